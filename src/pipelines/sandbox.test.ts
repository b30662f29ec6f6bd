import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../testing/until.ts'
import type { SandboxResult } from './sandbox/protocol.ts'
import { createSandbox } from './sandbox.ts'

const limits = {
  processes: 2,
  maxPerProject: 1,
  maxWaiting: 3,
  maxWaitingPerOwner: 2,
  maxWaitMs: 5000,
  idleMs: 60_000,
}
const whoOf = (projectId: string, ownerId = `owner of ${projectId}`) => ({ projectId, ownerId })
/** The limit for code that ends by itself: no machine is so busy that it takes this long. */
const AMPLE_MS = 60_000
const sandbox = createSandbox({ ...limits, maxWaiting: 100, maxWaitingPerOwner: 100, maxWaitMs: 60_000 })
afterAll(() => sandbox.close())

const run = (
  code: string,
  timeoutMs = AMPLE_MS,
  input: unknown = { steps: { a: { b: [1] } } },
): Promise<SandboxResult> =>
  sandbox.run(whoOf('p'), {
    code,
    input: JSON.stringify(input),
    timeoutMs,
    keys: [Buffer.alloc(32, 1).toString('base64')],
  })
const handler = (body: string) => `function handler(input) { ${body} }`
const valueIn = async (body: string) => {
  const result = await run(handler(body))
  return result.ok ? JSON.parse(result.json) : result
}

describe('nothing outside is reachable', () => {
  test.each([
    'process',
    'Bun',
    'require',
    'module',
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'Worker',
    'importScripts',
    'Deno',
    'std',
    'os',
    'setTimeout',
    'setInterval',
    'performance',
    'SharedArrayBuffer',
    'Atomics',
    'WebAssembly',
    'postMessage',
    'self',
    'window',
    'print',
    'load',
  ])('no %s', async (name) => {
    expect(await valueIn(`return [typeof ${name}, '${name}' in globalThis]`)).toEqual(['undefined', false])
  })

  test.each([
    [
      'constructor of the input',
      'return input.constructor.constructor("return typeof process + typeof Bun + typeof fetch")()',
    ],
    [
      'constructor of a utility',
      'return input.utils.sha256.constructor("return typeof process + typeof Bun + typeof fetch")()',
    ],
    [
      'constructor of what a utility gives',
      'return input.utils.randomUUID().constructor.constructor("return typeof process + typeof Bun + typeof fetch")()',
    ],
    [
      'constructor of an error of the host',
      'try { input.utils.randomToken(-1) } catch (e) { return e.constructor.constructor("return typeof process + typeof Bun + typeof fetch")() }',
    ],
    [
      'constructor of an async function',
      'return (async () => {}).constructor("return typeof process + typeof Bun + typeof fetch")()',
    ],
    [
      'a stack overflow in a utility',
      'const f = () => { try { return f() } catch (e) { return e.constructor.constructor("return typeof process + typeof Bun + typeof fetch")() } }; return f()',
    ],
    ['eval, indirectly', 'return (0, eval)("typeof process + typeof Bun + typeof fetch")'],
  ])('by the %s', async (_, body) => {
    expect(await valueIn(body)).toBe('undefinedundefinedundefined')
  })

  test('import finds no module', async () => {
    const result = await run(
      'const handler = async () => (await import("node:fs")).readFileSync("/etc/passwd", "utf8")',
    )
    expect(result.ok).toBe(false)
  })

  test('arguments and caller are unavailable', async () => {
    expect(
      await valueIn(
        'try { return [typeof arguments.callee.caller, typeof handler.caller] } catch (e) { return "refused" }',
      ),
    ).not.toContain('function')
  })
})

describe('only data comes out', () => {
  test.each<[what: string, body: string, value: unknown]>([
    [
      '__proto__ stays a name',
      'return JSON.parse(\'{"__proto__":{"polluted":true}}\')',
      JSON.parse('{"__proto__":{"polluted":true}}'),
    ],
    [
      'functions and symbols are nothing',
      'return { f() {}, s: Symbol("x"), [Symbol.iterator]: 1, n: 1 }',
      { n: 1 },
    ],
    ['a function is nothing', 'return () => 1', null],
    ['a toJSON is asked, inside', 'return { toJSON() { return typeof process } }', 'undefined'],
    [
      'patched globals change nothing of ours',
      'JSON.stringify = () => "[0]"; Object.prototype.kind = "ok"; Promise.prototype.then = () => {}; Array.prototype.map = null; return { a: 1 }',
      { a: 1 },
    ],
    ['lone surrogates are escaped', 'return "\\ud800"', '\ud800'],
    ['numbers that JSON lacks are null', 'return [NaN, Infinity, -0]', [null, null, 0]],
  ])('%s', async (_, body, value) => {
    expect(await valueIn(body)).toEqual(value as never)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('the copy is deeply frozen', async () => {
    expect(
      await valueIn(
        'return [Object.isFrozen(input), Object.isFrozen(input.steps.a.b), Object.isFrozen(input.utils)]',
      ),
    ).toEqual([true, true, true])
  })

  test('every call has a realm of its own', async () => {
    await valueIn('globalThis.left = 1; Array.prototype.left = 1; return 1')
    expect(await valueIn('return [typeof left, typeof [].left]')).toEqual(['undefined', 'undefined'])
  })

  test('tokens: forged, altered, of another key', async () => {
    const other = await sandbox.run(whoOf('p'), {
      code: handler('return input.utils.sign("x", 9)'),
      input: '{}',
      timeoutMs: AMPLE_MS,
      keys: [Buffer.alloc(32, 2).toString('base64')],
    })
    const foreign = other.ok ? JSON.parse(other.json) : ''
    expect(
      await valueIn(
        `return [input.utils.verify(${JSON.stringify(foreign)}), input.utils.verify(""), input.utils.verify("a.b.c"), input.utils.verify({}), input.utils.verify(input.utils.sign({ a: 1 }, 5))]`,
      ),
    ).toEqual([null, null, null, null, { a: 1 }])
  })
})

describe('it always ends', () => {
  const kindOf = async (code: string, timeoutMs?: number) => {
    const result = await run(code, timeoutMs)
    return result.ok ? 'ok' : result.kind
  }
  test.each<[what: string, code: string, timeoutMs: number, kinds: string[]]>([
    ['a loop', handler('for (;;);'), 100, ['timeout']],
    ['a loop before the handler', 'for (;;);', 100, ['timeout']],
    ['a loop that catches', handler('for (;;) { try { for (;;); } catch {} }'), 100, ['timeout']],
    ['promises without end', 'async function handler() { for (;;) await 0 }', 100, ['timeout']],
    ['a promise that never settles', handler('return new Promise(() => {})'), AMPLE_MS, ['never_settles']],
    ['a loop in a getter of the result', handler('return { get a() { for (;;); } }'), 100, ['timeout']],
    ['a loop in the message of an error', handler('throw { get message() { for (;;); } }'), 100, ['timeout']],
    ['a regular expression', handler('return /^(a+)+$/.test("a".repeat(50) + "b")'), 100, ['timeout']],
    [
      'a loop inside the interpreter that never checks the clock',
      handler('return Array.prototype.reverse.call({ length: 2 ** 53 - 1 })'),
      100,
      ['timeout'],
    ],
    ['all memory', handler('const a = []; for (;;) a.push(new Array(1000).fill(1))'), AMPLE_MS, ['memory']],
    ['a large buffer', handler('return new ArrayBuffer(2 ** 30).byteLength'), AMPLE_MS, ['memory', 'threw']],
    ['a growing text', handler('let s = "x"; for (;;) s += s'), AMPLE_MS, ['threw', 'memory']],
    ['a deep recursion', handler('return handler()'), AMPLE_MS, ['threw']],
    [
      'a deep value',
      handler('let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a'),
      AMPLE_MS,
      ['threw', 'broken', 'memory'],
    ],
    ['a deep text', handler('return JSON.parse("[".repeat(1e6))'), AMPLE_MS, ['threw', 'broken']],
    ['a result that is too large', handler('return "x".repeat(9e6)'), AMPLE_MS, ['too_large']],
    ['a syntax error', 'function handler( {', AMPLE_MS, ['threw']],
    ['no handler', 'const other = 1', AMPLE_MS, ['threw']],
    ['a handler that is not a function', 'const handler = 1', AMPLE_MS, ['threw']],
  ])(
    '%s',
    async (_, code, timeoutMs, kinds) => {
      expect(kinds).toContain(await kindOf(code, timeoutMs))
      expect(await valueIn('return 1')).toBe(1)
    },
    120_000,
  )
})

describe('a process of its own', () => {
  const childrenOf = (parent: number) =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => statOf(pid)?.split(') ')[1]?.split(' ')[1] === String(parent))
  const statOf = (pid: number) => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'utf8')
    } catch {
      return undefined
    }
  }
  const loop = (body: string, timeoutMs: number) => ({
    code: handler(body),
    input: '{}',
    timeoutMs,
    keys: [],
  })

  test('is killed before the server when memory is short, and the message says so', async () => {
    const others = new Set(childrenOf(process.pid))
    const own = createSandbox(limits)
    const ended = own.run(whoOf('p'), loop('for (;;);', AMPLE_MS))
    const pid = childrenOf(process.pid).find((child) => !others.has(child)) ?? 0
    const score = () => readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim()
    await until('the score of the child', () => score() === '600')
    process.kill(pid, 'SIGKILL')
    expect(await ended).toEqual({
      ok: false,
      kind: 'broken',
      message: 'the sandbox ended by SIGKILL, probably because memory is short',
    })
    own.close()
  })

  test('is ready for the next owner while several run', async () => {
    const others = new Set(childrenOf(process.pid))
    const started = () => childrenOf(process.pid).filter((child) => !others.has(child)).length
    const own = createSandbox({ ...limits, processes: 4 })
    const one = own.run(whoOf('p'), loop('for (;;);', AMPLE_MS))
    expect(started()).toBe(1)
    const two = own.run(whoOf('q'), loop('for (;;);', AMPLE_MS))
    expect(started()).toBe(3)
    own.close()
    await Promise.all([one, two])
  })

  test('that is new also stops a loop that never checks the clock', async () => {
    const own = createSandbox(limits)
    const job = loop('return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)', 100)
    expect(await own.run(whoOf('p'), job)).toMatchObject({ ok: false, kind: 'timeout' })
    own.close()
  })
})

describe('the queue', () => {
  const job = (code: string, timeoutMs = 300) => ({ code, input: '{}', timeoutMs, keys: [] })
  const loop = job(handler('for (;;);'))
  const quick = job(handler('return 1'), AMPLE_MS)
  const patient = { ...limits, maxWaitMs: 60_000 }

  test('a project that loops does not block another', async () => {
    const fair = createSandbox(patient)
    const order: string[] = []
    const note = (name: string) => (result: SandboxResult) => order.push(`${name} ${result.ok}`)
    // It loops for longer than the others may take.
    const own = [fair.run(whoOf('slow'), { ...loop, timeoutMs: 60_000 }), fair.run(whoOf('slow'), quick)]
    const noted = own.map((result) => result.then(note('its own')))
    await fair.run(whoOf('other'), quick).then(note('other'))
    expect(order).toEqual(['other true'])
    fair.close()
    await Promise.all(noted)
  }, 120_000)

  test('a job behind a loop of its own project runs after the loop was killed', async () => {
    const fair = createSandbox(patient)
    const order: boolean[] = []
    const own = [fair.run(whoOf('slow'), loop), fair.run(whoOf('slow'), quick)]
    await Promise.all(own.map((result) => result.then(({ ok }) => order.push(ok))))
    expect(order).toEqual([false, true])
    fair.close()
  }, 120_000)

  test('is bounded, and closing fails all waiting jobs', async () => {
    const small = createSandbox(limits)
    const all = Array.from({ length: 6 }, () => small.run(whoOf('p'), loop))
    const refused = await Promise.all(all.slice(3))
    expect(refused.map((result) => !result.ok && result.kind)).toEqual(['busy', 'busy', 'busy'])
    small.close()
    expect((await Promise.all(all)).every(({ ok }) => !ok)).toBe(true)
    expect(await small.run(whoOf('p'), quick)).toMatchObject({ ok: false, kind: 'busy' })
  })

  test('an owner has at most 4 running, 2 of a project, the third and fourth as the first of theirs', async () => {
    const pool = createSandbox({ processes: 16 })
    const endless = job(handler('for (;;);'), AMPLE_MS)
    const names = ['a1', 'a1', 'a1', 'a1', 'a2', 'a2', 'a3', 'a4', 'a5']
    const ended = names.map((name) => pool.run(whoOf(name, 'ann'), endless))
    // Whatever Ann's projects do, others go on.
    expect(await pool.run(whoOf('b1', 'ben'), quick)).toEqual({ ok: true, json: '1' })
    expect(await pool.run(whoOf('c1', 'cleo'), quick)).toEqual({ ok: true, json: '1' })
    pool.close()
    const kinds = (await Promise.all(ended)).map((result) => (result.ok ? 'ok' : result.kind))
    const ran = names.filter((_, i) => kinds[i] === 'broken')
    expect(ran).toEqual(['a1', 'a1', 'a2', 'a3'])
    expect(kinds.filter((kind) => kind === 'busy')).toHaveLength(5)
  }, 120_000)

  test('all processes together are bounded', async () => {
    const pool = createSandbox({ processes: 4 })
    const endless = job(handler('for (;;);'), AMPLE_MS)
    const ended = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => pool.run(whoOf(name), endless))
    pool.close()
    const kinds = (await Promise.all(ended)).map((result) => (result.ok ? 'ok' : result.kind))
    expect(kinds).toEqual(['broken', 'broken', 'broken', 'broken', 'busy', 'busy'])
  }, 120_000)

  test('a job that comes while no descriptor is free runs once there is one', async () => {
    const program = join(import.meta.dir, 'sandbox.child.ts')
    const given = [quick, limits].map((one) => JSON.stringify(one))
    const few = ['sh', '-c', 'ulimit -n 128; exec "$@"', 'sh']
    const child = Bun.spawn([...few, process.execPath, program, ...given], { stdout: 'pipe', stderr: 'pipe' })
    const [said, failed] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    expect(failed).toBe('')
    expect(JSON.parse(said)).toEqual([
      { ok: false, kind: 'busy', message: expect.stringMatching(/^no process can be started: .*EMFILE/) },
      { ok: true, json: '1' },
    ])
  }, 120_000)
})
