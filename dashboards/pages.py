"""Templates and assets: read once, served with the headers of `security.py`."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboards.security import PAGE_HEADERS

_HERE = Path(__file__).parent
_MEDIA_TYPES: Mapping[str, str] = MappingProxyType(
    {"app.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"}
)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file for the browser, and the version of its content that its URL carries."""

    content: bytes
    media_type: str
    version: str


class Pages:
    """Renders templates with every value escaped, and hands out the few files they refer to."""

    def __init__(self) -> None:
        self._assets = {name: _read(_HERE / "static" / name, kind) for name, kind in _MEDIA_TYPES.items()}
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def asset_url(self, name: str) -> str:
        """Return the URL of an asset; it changes with the content, so that browsers may keep it for ever."""
        return f"/admin/static/{name}?v={self._assets[name].version}"

    def asset(self, name: str) -> Response:
        """Return an asset, or 404 for what is none."""
        asset = self._assets.get(name)
        if asset is None:
            return Response(status_code=404)
        return Response(
            asset.content,
            media_type=asset.media_type,
            headers={"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"},
        )

    def render(self, template: str, context: Mapping[str, object], status: int = 200) -> HTMLResponse:
        """Return a page."""
        html = self._templates.get_template(template).render(context, asset=self.asset_url)
        return HTMLResponse(html, status_code=status, headers=dict(PAGE_HEADERS))


def _read(path: Path, media_type: str) -> Asset:
    content = path.read_bytes()
    return Asset(content=content, media_type=media_type, version=hashlib.sha256(content).hexdigest()[:12])
