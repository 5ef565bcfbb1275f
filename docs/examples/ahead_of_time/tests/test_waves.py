import unittest

import numpy as np

import waves


class Waves(unittest.TestCase):
    def test_pluck(self):
        string = waves.pluck(5)
        np.testing.assert_allclose(string, [0.0, 0.5, 1.0, 0.5, 0.0])
        with self.assertRaisesRegex(ValueError, "a place must be between 0 and 1, not 1.5"):
            waves.pluck(5, place=1.5)

    def test_as_interpreted(self):
        given = waves.pluck(100, 0.3)
        found = [given.copy(), given.copy()]
        expected = [given.copy(), given.copy()]
        waves.step(*found, steps=50)
        waves.step.__wrapped__(*expected, steps=50)
        np.testing.assert_array_equal(found, expected)

    def test_energy_stays(self):
        before, now = waves.pluck(200, 0.3), waves.pluck(200, 0.3)
        waves.step(before, now)
        start = waves.energy(before, now)
        waves.step(before, now, 1000)
        self.assertLess(abs(waves.energy(before, now) / start - 1.0), 0.1)

    def test_other_types(self):
        if hasattr(waves.energy, "py_func"):
            with self.assertRaises(TypeError):
                waves.energy("a", "b")


if __name__ == "__main__":
    unittest.main()
