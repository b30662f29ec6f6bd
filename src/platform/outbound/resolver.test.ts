import { expect, test } from 'bun:test'
import { cachingResolver, systemResolve } from './resolver.ts'

function setUp(answers: (string[] | Error)[]) {
  let now = 0
  const asked: string[] = []
  const resolver = cachingResolver(
    async (name) => {
      asked.push(name)
      const answer = answers.shift() ?? []
      if (answer instanceof Error) throw answer
      return answer
    },
    () => now,
  )
  return { resolver, asked, advance: (ms: number) => (now += ms) }
}

test('a result is cached for 30 seconds and no longer', async () => {
  const { resolver, asked, advance } = setUp([['1.1.1.1'], ['2.2.2.2']])
  expect(resolver.known('a.test')).toBeNull()
  expect(await resolver.resolve('a.test')).toEqual(['1.1.1.1'])
  advance(19_999)
  expect(resolver.known('a.test')).toEqual(['1.1.1.1'])
  expect(asked).toHaveLength(1)
  advance(10_002)
  expect(resolver.known('a.test')).toBeNull()
  expect(await resolver.resolve('a.test')).toEqual(['2.2.2.2'])
})

test('an ageing result is refreshed while it is still in use', async () => {
  const { resolver, asked, advance } = setUp([['1.1.1.1'], ['2.2.2.2']])
  await resolver.resolve('a.test')
  advance(25_000)
  expect(resolver.known('a.test')).toEqual(['1.1.1.1'])
  await Bun.sleep(0)
  expect(asked).toHaveLength(2)
  expect(resolver.known('a.test')).toEqual(['2.2.2.2'])
})

test('concurrent requests for one name share one lookup', async () => {
  const { resolver, asked } = setUp([['1.1.1.1']])
  const both = await Promise.all([resolver.resolve('a.test'), resolver.resolve('a.test')])
  expect(both).toEqual([['1.1.1.1'], ['1.1.1.1']])
  expect(asked).toHaveLength(1)
})

test('a failure is cached for a second', async () => {
  const { resolver, asked, advance } = setUp([new Error('no'), ['1.1.1.1']])
  await expect(resolver.resolve('a.test')).rejects.toThrow('no')
  await expect(resolver.resolve('a.test')).rejects.toThrow('no')
  expect(asked).toHaveLength(1)
  advance(1_000)
  expect(await resolver.resolve('a.test')).toEqual(['1.1.1.1'])
})

test('no address at all is a failure', async () => {
  const { resolver } = setUp([[]])
  await expect(resolver.resolve('a.test')).rejects.toThrow('a.test has no address')
})

test('the system resolves localhost', async () => {
  const addresses = await systemResolve('localhost')
  expect(addresses.length).toBeGreaterThan(0)
  for (const address of addresses) expect(['127.0.0.1', '::1']).toContain(address)
})
