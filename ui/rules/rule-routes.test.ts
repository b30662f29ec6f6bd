import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { redirectOf } from '../testing/browser.ts'
import { OF_REPOSITORY, RULE_FORM, type RulesApp, rulesApp } from './testing.ts'

let project: RulesApp
beforeAll(async () => {
  project = await rulesApp()
})
afterAll(() => project.app.close())
beforeEach(() => project.clear())

describe('a rule', () => {
  test('is created with all its settings', async () => {
    const answer = await project.submit(
      '/new',
      {
        ...RULE_FORM,
        methods: 'get, POST',
        timeout: '5000',
        order: '7',
        preserveHost: 'true',
        forwardCookies: 'true',
        limitForward: 'true',
        forward: 'accept, x-one',
        strip: 'referer',
        'new-0-name': 'x-key',
        'new-0-value': 's3cret',
        description: 'The API',
        aliasId: project.aliasId,
      },
      project.contributor,
    )
    expect(answer.status).toBe(303)
    const [rule] = (await project.json('GET', `/api/proxy-rules/alias/${project.aliasId}`)).rules
    expect(rule).toMatchObject({
      pathPattern: '/api/*',
      method: null,
      methods: ['GET', 'POST'],
      proxyType: 'external_proxy',
      targetUrl: 'https://api.example.com',
      stripPrefix: false,
      timeout: 5000,
      order: 7,
      preserveHost: true,
      forwardCookies: true,
      headerConfig: { add: { 'x-key': 's3cret' }, forward: ['accept', 'x-one'], strip: ['referer'] },
      description: 'The API',
      isEnabled: true,
      debugEnabled: false,
    })
    const html = await project.read(`${answer.headers.get('location')}`)
    expect(html).toContain('GET, POST /api/*')
    expect(html).toContain('Only on <a')
    expect(html).not.toContain('s3cret')
  })

  test('may be a redirect, which can be tried before it is saved', async () => {
    const form = {
      ...RULE_FORM,
      pathPattern: '/old/*',
      proxyType: 'redirect',
      targetUrl: '/new/:splat',
      status: '308',
    }
    const tried = await project.submit('/new', { ...form, preview: 'true', previewPath: '/old/a?b=1' })
    const html = await tried.text()
    expect([tried.status, html]).toEqual([
      200,
      expect.stringContaining('/old/a?b=1 leads to /new/a?b=1 (308)'),
    ])
    expect(html).toContain('value="/new/:splat"')
    expect(await project.order()).toEqual([])
    const other = { ...form, preview: 'true', previewPath: '/other' }
    expect(await (await project.submit('/new', other)).text()).toContain('/other is not redirected by it')

    const made = await project.submit('/new', form)
    const at = made.headers.get('location') ?? ''
    expect(await project.read(at)).toContain('Redirects to /new/:splat (308)')
    const [rule] = (await project.json('GET', `/api/proxy-rules/project/${project.site.projectId}`)).rules
    expect(rule).toMatchObject({ proxyType: 'redirect', targetUrl: '/new/:splat', status: 308 })
    const edit = `/${rule.id}/edit`
    const again = await project.submit(edit, {
      ...form,
      targetUrl: '/x',
      preview: 'true',
      previewPath: '/old/a',
    })
    expect(await again.text()).toContain('/old/a leads to /x (308)')
    const wrong = await project.submit(edit, { ...form, targetUrl: '//evil.example' })
    expect([wrong.status, await wrong.text()]).toEqual([
      400,
      expect.stringContaining('must not begin with //'),
    ])
    expect(
      (await project.submit(edit, { ...form, proxyType: 'internal_rewrite', targetUrl: '/x' })).status,
    ).toBe(303)
    const [changed] = (await project.json('GET', `/api/proxy-rules/project/${project.site.projectId}`)).rules
    expect(changed).toMatchObject({ proxyType: 'internal_rewrite', status: null })
  })

  test('is not reported as live while it is disabled', async () => {
    const { isEnabled, ...disabled } = { ...RULE_FORM, pathPattern: '/later/*' }
    const made = await project.submit('/new', disabled)
    const html = await project.read(`${made.headers.get('location')}`)
    expect(html).toContain('The rule was created. Enable it to make it live.')
    expect(html).not.toContain('and is live')
  })

  test('from files says that its header values are still set here', async () => {
    const rules = [
      { pathPattern: '/a/*', targetUrl: 'https://api.example.com', headerConfig: { add: { 'x-key': '' } } },
      { pathPattern: '/b/*', targetUrl: 'https://api.example.com' },
    ]
    await project.push('book', [], { ...OF_REPOSITORY, rules })
    const made = (await project.json('GET', `/api/proxy-rules/project/${project.site.projectId}`)).rules
    const [withHeader, without] = await Promise.all(
      made.map(({ id }: { id: string }) => project.read(project.at(`/${id}`))),
    )
    expect(withHeader).toContain('Only its header values are set here')
    expect(without).not.toContain('Only its header values are set here')
  })

  const paths: [pathPattern: string, stripPrefix: boolean, says: string][] = [
    ['/api/*', true, 'Forwarded without the part before the *'],
    ['/api/*', false, 'Forwarded unchanged'],
    ['/graphql', true, 'Not forwarded: the target itself is called'],
    ['*.json', true, 'Forwarded unchanged'],
  ]
  test.each(paths)(
    'of %s, prefix taken off: %p, says what becomes of the path',
    async (path, stripPrefix, says) => {
      const backend = { proxyType: 'external_proxy', targetUrl: 'https://api.example.com', stripPrefix }
      const { id } = await project.makeRule(path, backend)
      expect(await project.read(project.at(`/${id}`))).toContain(says)
    },
  )

  const flaws: [fields: Record<string, string>, field: string, message: string][] = [
    [{ pathPattern: 'api' }, 'pathPattern', 'begin with / or *'],
    [{ targetUrl: '' }, 'targetUrl', 'Give the address'],
    [{ targetUrl: 'http://api.example.com' }, 'targetUrl', 'https://'],
    [{ targetUrl: 'https://127.0.0.1' }, 'targetUrl', 'not a public address'],
    [{ proxyType: 'internal_rewrite', targetUrl: 'x' }, 'targetUrl', 'A path in the same deployment'],
    [{ timeout: '5' }, 'timeout', 'from 100 to 60000'],
    [{ timeout: 'long' }, 'timeout', 'from 100 to 60000'],
    [{ order: '1.5' }, 'order', 'A whole number'],
    [{ methods: 'G3T' }, 'methods', 'An HTTP method'],
    [{ methods: 'GET, P()' }, 'methods', 'HTTP methods, such as POST'],
    [{ strip: 'a:b' }, 'strip', 'A header name'],
    [{ limitForward: 'true', forward: 'a:b' }, 'forward', 'A header name'],
    [{ 'new-1-name': 'a b', 'new-1-value': 'x' }, 'new-1-name', 'not a valid header name'],
    [{ 'new-0-value': 'x' }, 'new-0-name', 'Enter the name of the header'],
    [{ 'new-0-name': 'x-a' }, 'new-0-value', 'Enter the value of the header'],
  ]
  test.each(flaws)('with %p is refused beside %s', async (fields, field, message) => {
    const checked = await project.submit('/new', { ...RULE_FORM, ...fields, intent: 'check' })
    expect(checked.status).toBe(200)
    const { details } = await checked.json()
    expect(details.map(({ path }: { path: string }) => path)).toEqual([field])
    expect(details[0].message).toContain(message)
    const sent = await project.submit('/new', { ...RULE_FORM, ...fields })
    expect(sent.status).toBe(400)
    expect(await sent.text()).toContain(`id="${field}-error"`)
    expect(await project.order()).toEqual([])
  })

  const asPipeline = (yaml: string) => ({ ...RULE_FORM, proxyType: 'pipeline', yaml })
  const steps = (...list: object[]) => JSON.stringify(list)

  const texts: [yaml: string, message: string][] = [
    ['{', 'Line 1: '],
    ['', 'Line 1: must be a map'],
    ['pathPattern: /x', 'a rule must have a pipeline'],
    ['pathPattern: /x\npipeline: {}', 'Line 2: pipeline.steps is required'],
    ['pathPattern: /x\ntargetUrl: https://api.example.com', 'Line 1: it has no pipeline'],
    ['pipeline: { steps: [] }', 'pathPattern is required'],
    [
      `pathPattern: /x\npipeline:\n  steps: ${steps({ handler: 'data_create', config: { schemaId: '$schema:none', fields: {} } })}`,
      'pipeline.steps[0].config.schemaId: ',
    ],
  ]
  test.each(texts)('of the YAML %p is refused at its line, and it stays', async (yaml, message) => {
    const checked = await project.submit('/new', { ...asPipeline(yaml), intent: 'check' })
    const { details } = await checked.json()
    expect(details[0]).toMatchObject({ path: 'yaml', message: expect.stringContaining(message) })
    const sent = await project.submit('/new', asPipeline(`${yaml}# <typed>`))
    expect(sent.status).toBe(400)
    expect(await sent.text()).toContain('# &lt;typed>')
    expect(await project.order()).toEqual([])
  })

  test('with several errors in its pipeline reports them all', async () => {
    const yaml = `pathPattern: /api/*
pipeline:
  validators: [auth_required]
  steps:
    - { id: form, handler: form_handler, config: { fields: { name: string } } }
    - { id: answer, handler: response_handler, config: { body: '{{steps.form.name' } }
`
    const answer = await project.submit('/new', asPipeline(yaml))
    expect(answer.status).toBe(400)
    const html = await answer.text()
    for (const line of [3, 5, 6]) expect(html).toContain(`<li>Line ${line}: `)
    expect(html).toContain('<span class="wrong">5\n</span>')
  })

  test('with an unknown handler is refused, unless it is already stored', async () => {
    const yaml = 'pathPattern: /api/*\npipeline:\n  steps:\n    - { id: a, handler: teleport }\n'
    const answer = await project.submit('/new', asPipeline(yaml))
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('teleport is not known')
    const stored = {
      proxyType: 'pipeline',
      pipelineConfig: { steps: [{ id: 'a', handlerType: 'teleport' }] },
    }
    const { id } = await project.makeRule('/api/*', stored)
    const changed = await project.submit(`/${id}/edit`, asPipeline(`description: x\n${yaml}`))
    expect(changed.status).toBe(303)
    expect(await project.json('GET', `/api/proxy-rules/${id}`)).toMatchObject({ ...stored, description: 'x' })
  })

  test('an example is put into the box, before what was typed', async () => {
    const answer = await project.submit('/new', {
      ...asPipeline('a: b\r\nc'),
      insert: 'true',
      example: 'count',
    })
    const html = await answer.text()
    expect([answer.status, html.includes('operation: count'), html.includes('# a: b')]).toEqual([
      200,
      true,
      true,
    ])
    expect(await project.order()).toEqual([])
  })

  test.each([
    ['proxy', 'external_proxy'],
    ['rewrite', 'internal_rewrite'],
    ['redirect', 'redirect'],
    ['pipeline', 'pipeline'],
    ['toString', 'external_proxy'],
  ])('/new?kind=%s opens %s', async (kind, proxyType) => {
    expect(fieldsOf(await project.read(project.at(`/new?kind=${kind}`)))['proxyType']).toBe(proxyType)
  })

  test('with a description that is too long is refused beside it', async () => {
    const long = { ...RULE_FORM, description: 'x'.repeat(20_001), intent: 'check' }
    const { details } = await (await project.submit('/new', long)).json()
    expect(details).toEqual([{ path: 'description', message: 'A text of at most 20000 characters.' }])
  })

  test('all errors are reported together, and a check stores nothing', async () => {
    const texts = { pathPattern: 'api', targetUrl: 'http://x', methods: 'G3T', timeout: 'long' }
    const wrong = { ...RULE_FORM, ...texts, intent: 'check' }
    const { details } = await (await project.submit('/new', wrong)).json()
    expect(details.map(({ path }: { path: string }) => path).sort()).toEqual(Object.keys(texts).sort())
    expect(await (await project.submit('/new', { ...RULE_FORM, intent: 'check' })).json()).toEqual({
      details: [],
    })
    expect(await project.order()).toEqual([])
  })

  describe('with header values', () => {
    const header = (deed: string, value = '') => ({
      'header-0-name': 'x-key',
      'header-0-do': deed,
      'header-0-value': value,
    })
    const cases: [name: string, fields: Record<string, string>, expected: unknown][] = [
      ['keeps them', header('keep'), { add: { 'x-key': 'old' } }],
      ['replaces one', header('replace', 'new'), { add: { 'x-key': 'new' } }],
      ['removes one', header('remove'), null],
      [
        'adds one',
        { ...header('keep'), 'new-0-name': 'x-b', 'new-0-value': 'b' },
        { add: { 'x-key': 'old', 'x-b': 'b' } },
      ],
    ]
    test.each(cases)('%s', async (_name, fields, expected) => {
      const made = { ...RULE_FORM, isEnabled: true, headerConfig: { add: { 'x-key': 'old' } } }
      const { id } = await project.makeRule('/api/*', made)
      expect(await project.read(project.at(`/${id}/edit`))).not.toContain('"old"')
      const answer = await project.submit(`/${id}/edit`, { ...RULE_FORM, ...fields })
      expect(redirectOf(answer)).toEqual([303, project.at(`/${id}?done=saved`)])
      expect((await project.json('GET', `/api/proxy-rules/${id}`)).headerConfig).toEqual(expected)
    })

    test.each([
      header('replace'),
      header('keep', 'typed, but not chosen'),
      header('remove', 'typed, but not chosen'),
    ])('a choice and a value that contradict each other are refused: %j', async (fields) => {
      const { id } = await project.makeRule('/api/*', {
        ...RULE_FORM,
        isEnabled: true,
        headerConfig: { add: { 'x-key': 'old' } },
      })
      const answer = await project.submit(`/${id}/edit`, { ...RULE_FORM, ...fields })
      expect(answer.status).toBe(400)
      expect(await answer.text()).toContain('id="header-0-value-error"')
    })

    test('a contributor who moves the target loses them', async () => {
      const { id } = await project.makeRule('/api/*', {
        ...RULE_FORM,
        isEnabled: true,
        headerConfig: { add: { 'x-key': 'old' } },
      })
      expect(await project.read(project.at(`/${id}/edit`), project.contributor)).toContain(
        'the stored values are dropped',
      )
      const moved = { ...RULE_FORM, ...header('keep'), targetUrl: 'https://evil.example' }
      expect((await project.submit(`/${id}/edit`, moved, project.contributor)).status).toBe(303)
      expect((await project.json('GET', `/api/proxy-rules/${id}`)).headerConfig.add).toEqual({})
    })

    test('a contributor who adds a Host loses them', async () => {
      const { id } = await project.makeRule('/api/*', {
        ...RULE_FORM,
        isEnabled: true,
        headerConfig: { add: { 'x-key': 'old' } },
      })
      const host = { 'new-0-name': 'Host', 'new-0-value': 'evil.example' }
      const form = { ...RULE_FORM, ...header('keep'), ...host }
      expect((await project.submit(`/${id}/edit`, form, project.contributor)).status).toBe(303)
      const { headerConfig } = await project.json('GET', `/api/proxy-rules/${id}`)
      expect(headerConfig.add).toEqual({ Host: 'evil.example' })
    })
  })

  test('whose target is no longer allowed can be disabled', async () => {
    const { id } = await project.makeRule('/api/*', { ...RULE_FORM, isEnabled: true })
    project.app.ctx.db.sqlite.run("UPDATE proxy_rules SET target_url = 'https://10.0.0.1'")
    const { isEnabled: _, ...disabled } = { ...RULE_FORM, targetUrl: 'https://10.0.0.1' }
    expect((await project.submit(`/${id}/edit`, disabled)).status).toBe(303)
    expect((await project.json('GET', `/api/proxy-rules/${id}`)).isEnabled).toBe(false)
    const refused = await project.submit(`/${id}/edit`, { ...disabled, isEnabled: 'true' })
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('is not a public address'),
    ])
  })

  test('saving without edits changes nothing', async () => {
    const made = {
      pathPattern: '/api/x',
      methods: ['GET', 'PUT'],
      proxyType: 'pipeline',
      pipelineConfig: { steps: [{ id: 'r', handlerType: 'response_handler', config: { body: '{}' } }] },
      headerConfig: { forward: [] },
      isEnabled: false,
      debugEnabled: true,
      timeout: 1234,
    }
    const before = await project.makeRule('/api/*', made)
    const html = await project.read(project.at(`/${before.id}/edit`))
    const answer = await project.submit(`/${before.id}/edit`, fieldsOf(html))
    expect(answer.status).toBe(303)
    const { updatedAt: _, ...after } = await project.json('GET', `/api/proxy-rules/${before.id}`)
    expect(before).toMatchObject(after)
  })

  test('is disabled, enabled and deleted', async () => {
    const { id } = await project.makeRule('/a')
    await project.submit(`/${id}`, { intent: 'switch', isEnabled: 'false' })
    expect((await project.json('GET', `/api/proxy-rules/${id}`)).isEnabled).toBe(false)
    expect(await project.read(project.at(`/${id}`))).toContain('Disabled')
    await project.submit(`/${id}`, { intent: 'switch', isEnabled: 'true' })
    expect((await project.json('GET', `/api/proxy-rules/${id}`)).isEnabled).toBe(true)
    expect(redirectOf(await project.submit(`/${id}`, { intent: 'delete' }))).toEqual([
      303,
      project.at('?done=deleted'),
    ])
    expect(await project.order()).toEqual([])
  })

  test('a large pipeline fits into the form', async () => {
    const code = `const handler = () => '${'x'.repeat(200_000)}'`
    const answer = await project.submit('/new', {
      ...RULE_FORM,
      proxyType: 'pipeline',
      yaml: `pathPattern: /large\npipeline:\n  steps:\n    - handler: function_handler\n      config: { code: ${JSON.stringify(code)} }\n`,
    })
    expect(answer.status).toBe(303)
  })
})

/** The fields that a browser sends from the form with `data-check`. */
function fieldsOf(html: string): Record<string, string> {
  const fields: Record<string, string> = {}
  let select = ''
  let area = ''
  new HTMLRewriter()
    .on('form[data-check] input', {
      element(input) {
        const name = input.getAttribute('name') ?? ''
        const isOff = input.getAttribute('type') === 'checkbox' && !input.hasAttribute('checked')
        if (!isOff) fields[name] = input.getAttribute('value') ?? ''
      },
    })
    .on('form[data-check] select', {
      element(element) {
        select = element.getAttribute('name') ?? ''
      },
    })
    .on('form[data-check] option[selected]', {
      element(option) {
        fields[select] = option.getAttribute('value') ?? ''
      },
    })
    .on('form[data-check] textarea', {
      element(element) {
        area = element.getAttribute('name') ?? ''
      },
      text({ text }) {
        fields[area] =
          (fields[area] ?? '') +
          text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
      },
    })
    .transform(html)
  return fields
}
