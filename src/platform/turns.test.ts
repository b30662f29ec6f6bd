import { describe, expect, test } from 'bun:test'
import { fullBeside, Turns, type Who } from './turns.ts'

const LIMITS = {
  maxPerProject: 2,
  maxPerOwner: 4,
  sharedPerOwner: 2,
  maxWaiting: 20,
  maxWaitingPerOwner: 6,
}
/** `a1` is project 1 of owner a. */
const who = (name: string): Who => ({ projectId: name, ownerId: name.slice(0, 1) })

/** The order in which jobs begin when nothing ends, of what waits beside what runs. */
function begun(waiting: string, already = ''): string {
  const turns = new Turns<Who>(LIMITS)
  for (const name of waiting.split(' ')) turns.add(who(name))
  const running = already.split(' ').filter(Boolean).map(who)
  const order: string[] = []
  for (let job = turns.next(running, new Set()); job !== undefined; job = turns.next(running, new Set())) {
    turns.remove(job)
    running.push(job)
    order.push(job.projectId)
  }
  return order.join(' ')
}

describe('whoever waits', () => {
  test.each([
    ['a1 a1 a1 a1', '', 'a1 a1'],
    ['a1 a2 a3 a4 a5 a6', '', 'a1 a2 a3 a4'],
    ['a1 a1 a1 a2 a2 a3 a3 a4', '', 'a1 a2 a3 a4'],
    ['a1 a1 a1', 'a1', 'a1'],
    ['a1 a2 a2 a3', 'a1', 'a2 a3'],
    ['a1 a2', 'a1 a1', 'a2'],
    ['a1 a2 a3 a4', 'a1 a1', 'a2 a3'],
    ['a2', 'a1 a1 a2', ''],
    ['a3 b1 b1 c1', 'a1 a1 a2 a4', 'b1 c1 b1'],
    ['a1 a1 b1 b1 c1', '', 'a1 b1 c1 a1 b1'],
    ['b1 c1 a1', 'b1 c1', 'a1 b1 c1'],
  ])('%s beside %s: %s', (waiting, running, order) => {
    expect(begun(waiting, running)).toBe(order)
  })

  test('never has more than the bounds, and is served as long as there is room', () => {
    let state = 7
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
      return (state >> 8) % below
    }
    const turns = new Turns<Who>(LIMITS)
    const running: Who[] = []
    const count = (key: keyof Who, value: string) => running.filter((one) => one[key] === value).length
    for (let round = 0; round < 5000; round++) {
      if (random(2) === 0) turns.add(who(`${'abc'[random(3)]}${random(5)}`))
      if (random(3) === 0) running.splice(random(running.length + 1), 1)
      const job = turns.next(running, new Set())
      if (job !== undefined) {
        const [mine, owners] = [count('projectId', job.projectId), count('ownerId', job.ownerId)]
        expect(mine < 2 && owners < (mine === 0 ? 4 : 2)).toBe(true)
        turns.remove(job)
        running.push(job)
      }
      for (const left of job === undefined ? turns.all() : [])
        expect(count('ownerId', left.ownerId) >= 4 || count('projectId', left.projectId) > 0).toBe(true)
    }
  })

  test('a project that is passed over is not asked again', () => {
    const turns = new Turns<Who>(LIMITS)
    for (const name of ['a1', 'b1']) turns.add(who(name))
    expect(turns.next([], new Set(['a1']))).toEqual(who('b1'))
    expect(turns.next([], new Set(['a1', 'b1']))).toBeUndefined()
  })

  test('may be too many, of one owner or of all, but not as the first of a project', () => {
    const turns = new Turns<Who>(LIMITS)
    const running = ['a1', 'a1'].map(who)
    const isCrowded = (name: string) => {
      turns.add(who(name))
      return turns.isCrowded(who(name), running, LIMITS)
    }
    for (let i = 0; i < 6; i++) expect(isCrowded('a1')).toBe(false)
    expect(isCrowded('a1')).toBe(true)
    expect(isCrowded('a2')).toBe(false)
    expect(isCrowded('a2')).toBe(true)
    for (const owner of 'bcde') for (let i = 0; i < 3; i++) isCrowded(`${owner}1`)
    expect(isCrowded('f1')).toBe(false)
    expect(isCrowded('f1')).toBe(true)
    expect(turns.length).toBe(23)
  })

  test('is known to have its share', () => {
    const full = (running: string) => fullBeside(running.split(' ').map(who), LIMITS)
    expect(full('a1')).toEqual({ owners: [], projects: [] })
    expect(full('a1 a2 b1')).toEqual({ owners: [], projects: ['a1', 'a2'] })
    expect(full('a1 a1 b1')).toEqual({ owners: [], projects: ['a1', 'a1'] })
    expect(full('a1 a2 a3 a4 b1')).toEqual({ owners: ['a'], projects: ['a1', 'a2', 'a3', 'a4'] })
  })
})
