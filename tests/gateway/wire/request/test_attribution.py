from gateway.wire.request.attribution import read_offered

PEER = {"helicone-user-id": "peer"}


def test_the_end_user_comes_from_the_body_then_from_its_metadata_then_from_a_peers_header() -> None:
    assert read_offered(PEER, {"user": "meta"}, "body").user == "body"
    assert read_offered(PEER, {"user": "meta"}, None).user == "meta"
    assert read_offered(PEER, {"user": 7}, None).user == "peer"
    assert read_offered({}, None, None).user is None
