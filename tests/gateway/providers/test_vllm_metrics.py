"""What the tokens of a vLLM server cost follows from its own metrics."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway.operations.logs import open_log
from gateway.policy.source import parse_policy
from gateway.providers.pool import Providers
from gateway.providers.upstream import Served
from gateway.providers.vllm_metrics import ENOUGH_S, Watch, Work, read_metrics
from tests.support.running_gateway import POLICY, policy, running_gateway
from tests.support.scripted_upstream import ScriptedUpstream, serve

LABELS = '{engine="0",model_name="Qwen/Qwen3-8B"}'


def page(work: Work, running: int = 0, labels: str = LABELS) -> str:
    return f"""# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{labels} {float(running)}
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{labels} 3.0
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{labels} 123456.0
# TYPE vllm:request_prefill_kv_computed_tokens histogram
vllm:request_prefill_kv_computed_tokens_bucket{{le="1.0",model_name="Qwen/Qwen3-8B"}} 0.0
vllm:request_prefill_kv_computed_tokens_bucket{{le="+Inf",model_name="Qwen/Qwen3-8B"}} 9.0
vllm:request_prefill_kv_computed_tokens_count{labels} 9.0
vllm:request_prefill_kv_computed_tokens_sum{labels} {work.prompt}
vllm:request_generation_tokens_sum{labels} {work.made}
vllm:request_prefill_time_seconds_sum{labels} {work.prefill_s}
vllm:request_decode_time_seconds_sum{labels} {work.decode_s}
vllm:request_decode_time_seconds_count{labels} 9.0
"""


@dataclass
class Server:
    """A server whose requests come and go as a test has it, looked at every second."""

    watch: Watch
    work: Work = Work()  # noqa: RUF009  a value
    at: float = 0.0

    def second(self, done: Work, running: int = 0) -> Served:
        self.at += 1
        self.work = Work(*(old + new for old, new in zip(self.work, done, strict=True)))
        return self.watch.look(page(self.work, running), self.at)

    def seconds(self, seconds: int, done: Work, running: int = 0) -> Served:
        return [self.second(done, running) for _ in range(seconds)][-1]


ONE_AFTER_THE_OTHER = Work(500, 40, 0.1, 0.8)


def test_a_machine_with_one_request_at_a_time_makes_its_tokens_at_their_own_speed() -> None:
    assert Server(Watch()).seconds(30, ONE_AFTER_THE_OTHER) == Served(5000, 50)


def test_a_batch_shares_the_machine_so_its_tokens_are_cheaper() -> None:
    together = Work(8 * 500, 8 * 36, 8 * 0.1, 8 * 0.9)  # in every second, eight requests that overlap wholly
    speeds = Server(Watch()).seconds(30, together, running=8)

    assert (speeds.prefill_per_s, speeds.decode_per_s) == (
        pytest.approx(40_000, rel=0.05),
        pytest.approx(320, rel=0.05),
    )


@given(st.integers(1, 50), st.floats(0.01, 0.9), st.integers(1, 100_000), st.integers(1, 10_000))
def test_the_tokens_of_a_span_cost_what_the_machine_cost_while_it_was_busy(
    running: int, prefill_share: float, prompt: int, made: int
) -> None:
    server = Server(Watch())
    server.second(Work(), running)
    speeds = server.seconds(40, Work(prompt, made, running * prefill_share, running * (1 - prefill_share)), running)

    assert speeds.prefill_per_s is not None
    assert speeds.decode_per_s is not None
    busy_s = prompt / speeds.prefill_per_s + made / speeds.decode_per_s
    assert busy_s == pytest.approx(1, rel=0.02)  # speeds have three digits


def test_idle_time_is_nobodys() -> None:
    busy, idle = Server(Watch()), Server(Watch())
    often = busy.seconds(60, ONE_AFTER_THE_OTHER)
    rare = [(idle.second(ONE_AFTER_THE_OTHER), idle.seconds(9, Work()))[0] for _ in range(60)][-1]

    assert often == rare


def test_until_enough_was_watched_a_token_is_dear_rather_than_cheap() -> None:
    watch = Watch()
    lifetime = Work(80_000, 8_000, 40, 400)  # perhaps ten at a time, perhaps one

    assert watch.look(page(lifetime, 10), 0.0) == Served(2000, 20)
    later = Work(*(2 * each for each in lifetime))
    speeds = watch.look(page(later, 10), 44.0)
    assert speeds == Served(20_000, 200)


def test_long_requests_that_have_not_ended_do_not_make_those_that_have_dear() -> None:
    server = Server(Watch())
    server.second(Work(1000, 100, 1, 9))
    server.seconds(int(ENOUGH_S) * 3, Work(), running=5)
    speeds = server.second(Work(100, 10, 0.1, 0.9), running=5)

    assert speeds == Served(1000, 11.1)


def test_a_server_that_starts_anew_is_watched_on() -> None:
    server = Server(Watch())
    before = server.seconds(20, ONE_AFTER_THE_OTHER)
    server.work = Work()
    after = server.seconds(20, ONE_AFTER_THE_OTHER)

    assert before == after


def test_a_server_that_has_answered_nothing_has_no_price_and_says_so() -> None:
    assert "has answered nothing yet" in Watch().look(page(Work()), 0.0).unmeasured


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>",
        "sglang:num_running_reqs 3.0",
        page(Work(1, 1, 1, 1)).replace("vllm:request_decode_time_seconds_sum", "x"),
        page(Work(float("nan"), 1, 1, 1)),
        page(Work(1, 1, 1, 1)).replace('"0"', '"0'),
        page(Work(-5, 1, 1, 1)),
    ],
)
def test_a_page_that_does_not_tell_is_no_measurement(text: str) -> None:
    assert read_metrics(text) is None
    assert Watch().look(text, 0.0).unmeasured.startswith("cannot be measured")


def test_one_page_that_does_not_tell_changes_nothing() -> None:
    watch = Watch()
    before = watch.look(page(Work(1000, 100, 2, 5)), 0.0)

    assert watch.look("", 1.0) == before


def test_all_engines_of_a_server_are_one_machine() -> None:
    both = page(Work(1, 2, 3, 4), 0) + page(Work(10, 20, 30, 40), 2, '{engine="1",model_name="Qwen/Qwen3-8B"}')

    assert read_metrics(both) == (Work(11, 22, 33, 44), True)


@given(st.text())
def test_no_page_can_raise(text: str) -> None:
    Watch().look("vllm:num_requests_running" + text, 0.0)


@pytest.mark.parametrize(
    ("metrics", "served"),
    [
        (page(Work(1000, 100, 2, 5)), Served(500, 20)),
        (None, Served(unmeasured="cannot be measured: its server shows no metrics of vLLM 0.12 or later")),
    ],
)
async def test_the_speeds_of_a_vllm_server_are_those_of_its_models(metrics: str | None, served: Served) -> None:
    upstream = ScriptedUpstream()
    upstream.metrics = metrics
    async with serve(upstream.app()) as port, Providers("http://127.0.0.1:9", open_log("error")) as pool:
        section = {
            "kind": "vllm",
            "zone": "onprem",
            "base_url": f"http://127.0.0.1:{port}/v1",
            "machine_usd_per_hour": 9,
        }
        text = yaml.safe_dump(policy(providers={"engine": section}))
        lease = await pool.lease(parse_policy(text, "test", {}, datetime.now(UTC)).document, {}, 10)

        assert lease.upstreams["engine"].status.served == dict.fromkeys(upstream.served, served)


async def test_an_answer_of_a_vllm_server_costs_the_machine_time_that_it_measured(tmp_path: Path) -> None:
    cluster = ScriptedUpstream()
    cluster.metrics = page(Work(1000, 100, 2, 5))
    async with serve(cluster.app()) as port:
        section = {
            "kind": "vllm",
            "zone": "onprem",
            "base_url": f"http://127.0.0.1:{port}/v1",
            "machine_usd_per_hour": 3.6,
        }
        model = {
            "name": "big",
            "provider": "cluster",
            "model": "smollm2-135m-instruct",
            "tier": "local",
            "price": "measured",
        }
        document = policy(providers=POLICY["providers"] | {"cluster": section}, models=[*POLICY["models"], model])
        async with running_gateway(tmp_path, document) as gateway:
            reply = await gateway.chat(await gateway.key(), model="big")

    # 12 tokens of a prompt at 500 in a second and 4 of an answer at 20, of a machine of 0.001 USD in a second
    assert reply.headers["x-sluice-cost-usd"] == "0.000224"
