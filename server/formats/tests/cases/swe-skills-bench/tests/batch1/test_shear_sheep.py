def test_shear():
    assert True
