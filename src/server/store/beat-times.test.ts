import { expect, test } from 'bun:test'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { BeatTimes } from './beat-times.ts'

/** contract 18 §5: a beat each 2 s unless the log said it, and at 3 s of silence a stand-by may take over. */
const TICK_MS = 100

/** The times of all signs and looks, where a new number comes after each of these gaps. */
function run(gaps: readonly number[], isHeard: (beat: number) => boolean = () => true) {
  const times = new BeatTimes()
  const [signs, beats, looks]: [number[], number[], number[]] = [[], [], []]
  let [number, next] = [1, gaps[0] ?? Number.POSITIVE_INFINITY]
  for (let now = 0; number <= gaps.length; now += TICK_MS) {
    while (now >= next) {
      signs.push(next)
      next += gaps[number++] ?? Number.POSITIVE_INFINITY
    }
    const due = times.due(now, number)
    if (due !== null) looks.push(now)
    if (due !== 'beat') continue
    beats.push(now)
    if (!isHeard(beats.length)) continue
    times.said()
    signs.push(now)
  }
  return { signs: signs.sort((a, b) => a - b), beats, looks }
}

const longest = (times: readonly number[]): number =>
  Math.max(...times.slice(1).map((time, i) => time - (times[i] ?? 0)))

test('however numbers fall between them, no two signs are further apart than two seconds and two looks', () => {
  const random = seededRandom(seedOf('beats'))
  for (let round = 0; round < rounds(200, 5_000); round++) {
    const gaps = Array.from({ length: 2 + Math.floor(random() * 40) }, () => 1 + Math.floor(random() * 6_000))
    const { signs, looks } = run(gaps)
    expect(longest(signs)).toBeLessThanOrEqual(2_000 + 2 * TICK_MS)
    expect(longest(looks)).toBeLessThanOrEqual(2_000)
  }
})

test('a number right after a beat puts off the next by two seconds, not by four', () => {
  expect(run([100, 6_000]).beats.slice(0, 3)).toEqual([0, 2_100, 4_100])
})

test('while numbers come nothing is said after the first time', () => {
  expect(run(Array(100).fill(1_000)).beats).toEqual([0])
})

test('what did not get into the store is said again after half a second, the first time despite new numbers', () => {
  expect(run(Array(4).fill(700), (beat) => beat > 3).beats).toEqual([0, 500, 1_000, 1_500])
})
