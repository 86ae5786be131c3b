"""What the caches did last is on record, however soon the gateway stops."""

from pathlib import Path

from tests.support.running_gateway import running_gateway


async def test_a_hit_just_before_the_end_is_on_record(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key()
        await gateway.chat(key)
        hit = await gateway.chat(key)
        assert hit.headers["x-sluice-cache"] == "exact"
    async with running_gateway(tmp_path) as gateway:
        found = await gateway.services.caches.recorder.lookups.of_request(hit.headers["x-request-id"])
        assert [lookup.kind for lookup in found] == ["exact"]
