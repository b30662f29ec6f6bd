import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operatorGrant } from '../../modules/auth/authorize.ts'
import { putSecret } from '../../modules/secrets/service.ts'
import { type PipelineApp, pipelineApp, step } from '../../testing/pipeline-app.ts'
import { until } from '../../testing/until.ts'
import type { PipelineStep } from '../language/model.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const data = (value: unknown) => ({ status: 200, body: { success: true, data: value } })

describe('function_handler', () => {
  const fn = (code: string, config: Record<string, unknown> = {}): PipelineStep[] => [
    step('f', 'function_handler', { code, ...config }),
  ]

  test.each<[code: string, result: unknown]>([
    ['function handler({ request }) { return request.body.n + 1 }', 42],
    ['const handler = async ({ steps }) => Object.keys(steps)', []],
    [
      'var handler = ({ user, project, deployment, request }) => [user, project.name, deployment.alias, request.method, request.params]',
      [null, 'site', 'production', 'POST', { 0: 'x' }],
    ],
    ['const handler = () => {}', null],
    [
      'const handler = ({ utils }) => [utils.sha256("a").length, utils.hmacSha256("k", "a").slice(0, 8), utils.base64urlDecode(utils.base64urlEncode("é"))]',
      [64, '78da9151', 'é'],
    ],
    ['const handler = ({ utils }) => utils.verify(utils.sign({ a: [1] }, 60))', { a: [1] }],
    [
      'const handler = ({ utils }) => [0, -1, -9e99].map((seconds) => utils.verify(utils.sign("x", seconds)))',
      [null, null, null],
    ],
    [
      'const handler = ({ utils }) => [utils.verify("x.y"), utils.verify(utils.sign(1, 60) + "x"), utils.randomUUID().length, utils.randomToken(16).length]',
      [null, null, 36, 22],
    ],
  ])('%s', async (code, result) => {
    expect(await app.answer(fn(code), { json: { n: 41 } })).toEqual(data(result))
  })

  test('args are expressions, and pass secrets into the code', async () => {
    putSecret(app.ctx, operatorGrant(app.projectId), 'HOOK', 'k')
    const code = 'const handler = ({ args, utils }) => [utils.hmacSha256(args.key, args.text), args.none]'
    const args = { key: 'secrets.HOOK', text: '{{request.body.text}}!', none: 'input.nothing' }
    const outcome = await app.answer(fn(code, { args }), { json: { text: 'a' } })
    const mac = new Bun.CryptoHasher('sha256', 'k').update('a!').digest('hex')
    expect(outcome).toEqual(data([mac, null]))
    expect(await app.answer(fn('const handler = (given) => Object.keys(given).sort()'))).toEqual(
      data(['deployment', 'project', 'request', 'steps', 'user', 'utils']),
    )
  })

  test.each(['secrets.NOT_SET', '{{secrets.NOT_SET}}', 'null', 'input.none'])(
    'nothing is signed with %s',
    async (key) => {
      const code = 'const handler = ({ args, utils }) => utils.hmacSha256(args.key, "a")'
      expect((await app.answer(fn(code, { args: { key } }))).status).toBe(500)
    },
  )

  test('braces and expressions in the code are not evaluated', async () => {
    expect(await app.answer(fn('const handler = () => "{{secrets.X}} steps.a"'))).toEqual(
      data('{{secrets.X}} steps.a'),
    )
  })

  test('a token of one project is invalid in another, and expires', async () => {
    const signed = async (seconds: number) => {
      const { body } = await app.answer(fn(`const handler = ({ utils }) => utils.sign("x", ${seconds})`))
      return (body as { data: string }).data
    }
    const verify = fn('const handler = ({ utils, request }) => utils.verify(request.body.token)')
    const token = await signed(3600)
    expect(await app.answer(verify, { json: { token }, projectId: app.addProject('other') })).toEqual(
      data(null),
    )
    expect(await app.answer(verify, { json: { token } })).toEqual(data('x'))
    const brief = await signed(1)
    // The sandbox uses the system clock.
    await until('the end of the token', async () =>
      Bun.deepEquals(await app.answer(verify, { json: { token: brief } }), data(null)),
    )
    expect(await app.answer(verify, { json: { token } })).toEqual(data('x'))
  })

  test.each<[what: string, code: string, timeout: number]>([
    ['throws', 'const handler = () => { throw new Error("secret detail") }', 1000],
    ['cannot be parsed', 'const handler = (', 1000],
    ['has no handler', 'const other = 1', 1000],
    ['loops', 'const handler = () => { for (;;); }', 50],
  ])('one that %s is 500 without internals', async (_, code, timeout) => {
    const { status, body } = await app.answer(fn(code, { timeout }))
    expect(status).toBe(500)
    expect(body).toMatchObject({ error: 'Internal Server Error', step: 'f' })
    expect(JSON.stringify(body)).not.toMatch(/secret detail|unexpected token|quickjs/i)
  })
})
