import type { Appliance } from './journey.ts'

const STEPS = [
  { id: 'form', handlerType: 'form_handler', config: { fields: { name: { type: 'string', max: 100 } } } },
  {
    id: 'code',
    handlerType: 'function_handler',
    config: { code: 'const handler = ({ steps }) => {\n  return "Hello " + steps.form.name\n}' },
  },
  { id: 'answer', handlerType: 'response_handler', config: { body: '{"said":"{{steps.code}}"}' } },
]

/** Gives a project rules of each kind, two sets and a run. Returns the paths of their pages, below the project's. */
export async function seedRules(appliance: Appliance, projectId: string, aliasId: string): Promise<string[]> {
  const send = async (method: string, path: string, json?: unknown) =>
    (await appliance.asAdmin(method, path, json)).json()
  const make = (json: unknown) => send('POST', `/api/proxy-rules/project/${projectId}`, json)
  const push = (name: string) =>
    send('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, {
      ruleSet: { name, description: 'Messages', environment: 'production' },
      rules: [{ pathPattern: '/book/*', targetUrl: '/index.html' }],
      source: { repo: 'acme/website', gitSha: 'c0ffee1234567890', path: '.svc/book' },
    })
  const proxy = await make({
    pathPattern: '/api/*',
    methods: ['GET', 'POST'],
    targetUrl: 'https://api.example.com',
    headerConfig: { add: { 'x-key': 's3cret' }, strip: ['referer'] },
    isEnabled: false,
  })
  const pipeline = await make({
    pathPattern: '/greet',
    proxyType: 'pipeline',
    pipelineConfig: {
      name: 'greet',
      steps: STEPS,
      validators: [{ type: 'rate_limit', config: { limit: 9, windowSeconds: 60, keyBy: 'ip' } }],
    },
    debugEnabled: true,
  })
  await send('POST', `/api/proxy-rules/alias/${aliasId}`, {
    pathPattern: '/here',
    proxyType: 'internal_rewrite',
    targetUrl: '/',
  })
  const [live, attached] = [await push('book'), await push('mocks')]
  await push('book-pr-1')
  await send('PATCH', `/api/proxy-rule-sets/${attached.ruleSetId}`, { aliases: ['production'] })
  await appliance.asAdmin('POST', '/repo/acme/website/alias/production/greet', { name: 'Ann' })
  const runs = await send('GET', `/api/projects/${projectId}/pipeline-runs`)
  const { rules } = await send('GET', `/api/proxy-rule-sets/${live.ruleSetId}`)
  return [
    ...[
      '',
      '?alias=production',
      '/new',
      '/new?kind=pipeline',
      '/new?form=contact',
      '/runs',
      '/runs?outcome=failed',
      `/runs/${runs.data[0].id}`,
    ],
    ...[`/test?rule=${proxy.id}`, `/${proxy.id}`, `/${proxy.id}/edit`, `/${pipeline.id}`],
    ...[`/${pipeline.id}/edit`, `/${rules[0].id}`, `/${rules[0].id}?unlocked=true`],
    ...[`/sets/${live.ruleSetId}`, `/sets/${attached.ruleSetId}`],
  ].map((rest) => `/rules${rest}`)
}
