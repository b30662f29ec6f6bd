import { api, PROJECT, type Svc } from './svc.ts'

export const FORM = 'name=Ann+Example&email=ann%40example.com&message=Is+the+stove+warm%3F+We+come+on+Friday.'

const form = {
  id: 'form',
  handlerType: 'form_handler',
  config: {
    fields: {
      name: { type: 'string', required: true, max: 100 },
      email: { type: 'email', required: true },
      message: { type: 'string', required: true, max: 5000 },
    },
  },
}
const fields = { name: 'steps.form.name', email: 'steps.form.email', message: 'steps.form.message' }
const create = { id: 'kept', handlerType: 'data_create', config: { schemaId: '$schema:contacts', fields } }
const answer = (status: number, body: string) => ({
  id: 'answer',
  handlerType: 'response_handler',
  config: { status, body },
})
const code = (id: string, text: string, timeout?: number) => ({
  id,
  handlerType: 'function_handler',
  config: { code: text, ...(timeout === undefined ? {} : { timeout }) },
})
const query = { id: 'found', handlerType: 'data_query', config: { schemaId: '$schema:notes', pageSize: 20 } }
const rule = (method: string, pathPattern: string, steps: unknown[]) => ({
  method,
  pathPattern,
  proxyType: 'pipeline',
  pipelineConfig: { steps },
})

const rules = (spinMs: number) => [
  rule('POST', '/api/contact', [form, create, answer(201, '{{{steps.kept}}}')]),
  rule('POST', '/api/check', [form, answer(201, '{{{steps.form}}}')]),
  rule('GET', '/api/notes', [query, answer(200, '{{{steps.found}}}')]),
  {
    ...rule('GET', '/api/trivial', [
      code('one', 'const handler = ({ request }) => ({ path: request.path })'),
      answer(200, '{{{steps.one}}}'),
    ]),
    debugEnabled: true,
  },
  rule('GET', '/api/spin', [code('spin', 'const handler = () => { for (;;); }', spinMs)]),
]
const text = (name: string) => ({ name, type: 'text', required: true })
const SCHEMAS = [
  {
    name: 'contacts',
    fields: [text('name'), { name: 'email', type: 'email', required: true }, text('message')],
  },
  { name: 'notes', fields: [text('name'), text('text'), { name: 'stars', type: 'integer' }] },
]
const NOTES = 20

/** The rules that are measured, and twenty records for the one that reads them. The function that never ends is stopped after `spinMs`. The project's id. */
export async function pushRules(svc: Svc, spinMs: number): Promise<string> {
  const { id } = (await api(svc, 'GET', `/api/projects/${PROJECT}`)) as { id: string }
  const push = { ruleSet: { name: 'bench' }, rules: rules(spinMs), schemas: SCHEMAS }
  await api(svc, 'PUT', `/api/proxy-rule-sets/project/${id}/sync`, JSON.stringify(push))
  const { schemas } = (await api(svc, 'GET', `/api/schemas?projectId=${id}`)) as {
    schemas: { id: string; name: string }[]
  }
  const notes = schemas.find(({ name }) => name === 'notes')
  for (let i = 0; i < NOTES; i++) {
    const note = { name: `Visitor ${i}`, text: `Fog all the way up, and then it stopped. ${i}`, stars: i % 6 }
    await api(svc, 'POST', `/api/schemas/${notes?.id}/records`, JSON.stringify(note))
  }
  return id
}
