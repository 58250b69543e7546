"""Reports point to the line of the target file that says what a failure is about."""

from gateproof.conformance.targets.lines import lines_of


def test_tables_and_the_keys_of_the_target_are_found(texts):
    found = lines_of(texts.gateway + texts.static + '[[projects]]\nid = "prj_2"\n')

    assert found["target"] == 2
    assert found["base_url"] == 6
    assert found["projects"] == 9
    assert found["projects.resources"] == 12
    assert "indicator" not in found


def test_what_is_commented_out_says_nothing():
    assert lines_of('#[target]\n# base_url = "x"\n[ target ]\n') == {"target": 3}
