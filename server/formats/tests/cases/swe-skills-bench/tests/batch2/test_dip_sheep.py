def test_dip():
    assert True
