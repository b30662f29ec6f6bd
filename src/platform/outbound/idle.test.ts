import { expect, test } from 'bun:test'
import type { OutboundError } from './error.ts'
import { IdleConnections, type IdlePlace, type Idler } from './idle.ts'

/** Like a real connection, it leaves when it is closed. */
class Kept implements Idler {
  idlePlace: IdlePlace | null = null
  closedBy: string | null = null
  readonly #idle: IdleConnections

  constructor(idle: IdleConnections) {
    this.#idle = idle
    idle.add(this)
  }

  fail(error: OutboundError): void {
    this.closedBy = error.message
    this.#idle.delete(this)
  }
}

const kept = (idle: IdleConnections, count: number) => Array.from({ length: count }, () => new Kept(idle))
const closed = (connections: readonly Kept[]) =>
  connections.flatMap(({ closedBy }, index) => (closedBy === null ? [] : [index]))

test('1024 are kept, and one more closes the longest idle one', () => {
  const idle = new IdleConnections()
  const connections = kept(idle, 1024)
  expect(closed(connections)).toEqual([])
  connections.push(...kept(idle, 2))
  expect(closed(connections)).toEqual([0, 1])
})

test('one that was used again counts as new, whatever its place in the order', () => {
  const idle = new IdleConnections()
  const connections = kept(idle, 1024)
  for (const place of [0, 1, 500, 1023]) {
    const connection = connections[place] as Kept
    idle.delete(connection)
    idle.add(connection)
  }
  connections.push(...kept(idle, 3))
  expect(closed(connections)).toEqual([2, 3, 4])
})

test('removing one makes room, and removing it twice changes nothing', () => {
  const idle = new IdleConnections()
  const connections = kept(idle, 1024)
  for (const connection of [
    ...connections.slice(0, 2),
    ...connections.slice(1022),
    ...connections.slice(0, 1),
  ])
    idle.delete(connection)
  connections.push(...kept(idle, 4))
  expect(closed(connections)).toEqual([])
  connections.push(...kept(idle, 1))
  expect(closed(connections)).toEqual([2])
})

test('all can be removed, and others added', () => {
  const idle = new IdleConnections()
  for (const connection of kept(idle, 3)) idle.delete(connection)
  const connections = kept(idle, 1025)
  expect(closed(connections)).toEqual([0])
})
