import type { RuleView } from '../../src/modules/proxy-rules/service.ts'
import type { RuleSetView } from '../../src/modules/rule-sets/service.ts'
import type { RunView } from '../../src/modules/runs/service.ts'
import { contactFormPage } from '../rules/contact-form.ts'
import { rulePage } from '../rules/rule.ts'
import { ruleEditPage } from '../rules/rule-edit.ts'
import { ruleSetPage } from '../rules/rule-set.ts'
import { ruleTestPage } from '../rules/rule-test.ts'
import { FRESH_VALUES, valuesOf, withoutHeaderValues } from '../rules/rule-values.ts'
import { rulesPage } from '../rules/rules.ts'
import { runPage } from '../rules/run.ts'
import { runsPage } from '../rules/runs.ts'
import { sample } from './sample.ts'
import { aliases, apiUrl, at, maker, none, one, owner, sha, viewer, wrong } from './sample-data.ts'

const source = { repo: 'acme/website', path: '.svc/proxy-rules/guestbook', gitSha: sha, syncedAt: at }
const proxy: RuleView = {
  id: 'r1',
  projectId: 'p1',
  aliasId: null,
  ruleSetId: null,
  pathPattern: '/api/*',
  method: null,
  methods: ['GET', 'POST'],
  proxyType: 'external_proxy',
  status: null,
  targetUrl: 'https://api.example.com/v2',
  stripPrefix: true,
  order: 0,
  timeout: 30_000,
  preserveHost: false,
  forwardCookies: true,
  headerConfig: { add: { 'x-service-key': 'never-shown', 'x-later': '' }, forward: [], strip: ['referer'] },
  pipelineConfig: null,
  isEnabled: true,
  debugEnabled: false,
  description: null,
  source: null,
  createdAt: at,
  updatedAt: at,
}
const rewrite: RuleView = {
  ...proxy,
  id: 'r2',
  pathPattern: '/old/*',
  methods: null,
  proxyType: 'internal_rewrite',
  targetUrl: '/archive/',
  headerConfig: null,
  isEnabled: false,
}
const pipeline: RuleView = {
  ...rewrite,
  id: 'r3',
  ruleSetId: 'set1',
  pathPattern: '/api/messages',
  method: 'POST',
  proxyType: 'pipeline',
  targetUrl: '',
  isEnabled: true,
  debugEnabled: true,
  source,
  pipelineConfig: {
    name: 'keep a message',
    validators: [{ type: 'rate_limit', config: { limit: 10 } }, { type: 'auth_required' }],
    steps: [
      { id: 'form', handlerType: 'form_handler', config: { fields: { text: { type: 'string', max: 500 } } } },
      { id: 'off', name: 'Not now', handlerType: 'email_handler', isEnabled: false },
      {
        id: 'mail',
        handlerType: 'email_handler',
        config: { condition: 'steps.form.mail', to: 'a@b.example' },
      },
    ],
    postSteps: [
      {
        id: 'log',
        handlerType: 'function_handler',
        config: { code: 'const handler = () => {\n  return 1\n}' },
      },
    ],
  },
}
const set: RuleSetView = {
  id: 'set1',
  projectId: 'p1',
  name: 'guestbook',
  description: 'Messages of visitors',
  environment: 'production',
  isPreview: false,
  liveOn: 'project',
  aliases: [],
  ruleCount: 1,
  source,
  createdAt: at,
  updatedAt: at,
}
const mocks: RuleSetView = { ...set, id: 'set2', name: 'mocks', liveOn: 'aliases', source: null }
const preview: RuleSetView = { ...mocks, id: 'set3', name: 'guestbook-pr-7', isPreview: true, ruleCount: 2 }

const nowhere = { alias: null, own: [], sets: [], others: [] }
const list = { aliasNames: ['production', 'staging'], chosen: '', page: 1, pages: 1, total: 1, apiUrl }
const full = {
  ...list,
  aliases: [
    {
      alias: { id: 'a2', name: 'staging' },
      own: [{ ...proxy, id: 'r4', aliasId: 'a2' }],
      sets: [
        { ...mocks, aliases: ['staging'], rules: [] },
        { ...preview, aliases: ['staging'], rules: [{ ...proxy, id: 'r5', ruleSetId: 'set3' }] },
      ],
      others: [set],
    },
  ],
  everywhere: { ...nowhere, own: [proxy, rewrite], sets: [{ ...set, rules: [pipeline] }] },
  idle: [preview],
}
const run: RunView = {
  id: 'n1',
  ruleId: 'r3',
  ruleName: 'keep a message',
  phase: 'steps',
  pathPattern: '/api/messages',
  method: 'POST',
  path: '/api/messages?from=home',
  status: 201,
  durationMs: 4.25,
  failedStep: null,
  error: null,
  steps: [
    {
      id: 'form',
      handler: 'form_handler',
      durationMs: 0.4,
      skipped: false,
      input: { fields: { text: { type: 'string' } } },
      output: { text: 'Hello' },
      error: null,
    },
    {
      id: 'mail',
      handler: 'email_handler',
      durationMs: 0,
      skipped: true,
      input: null,
      output: null,
      error: null,
    },
    {
      id: 'call',
      handler: 'http_request',
      durationMs: 812,
      skipped: false,
      input: 'text',
      output: undefined,
      error: 'It answered 500',
    },
  ],
  startedAt: at,
  trigger: 'request',
  scheduleId: null,
}
const refused = { ...run, id: 'n2', status: 400, failedStep: 'form', error: 'text is required', steps: null }
const late = {
  ...run,
  id: 'n3',
  phase: 'post_steps' as const,
  status: 500,
  durationMs: 12_000,
  ruleName: null,
}

const asked = { path: '/api/users', method: 'GET', alias: 'a1' }
const explained = {
  url: 'https://production--website--acme.sites.example.com/api/users',
  method: 'GET',
  steps: [
    { step: 'host', text: 'It shows the alias production' },
    { step: 'rule', text: '/old/* (project): the path does not match', detail: { id: 'r2', matched: false } },
    {
      step: 'rule',
      text: '/api/* (project): it matches and takes the request',
      detail: { id: 'r1', matched: true, pathPattern: '/api/*' },
    },
    { step: 'forward', text: 'The request goes to https://api.example.com/v2/users' },
  ],
  outcome: {
    kind: 'forward',
    status: null,
    headers: {},
    ruleId: 'r1',
    target: 'https://api.example.com/v2/users',
  },
}
const fresh = { ...owner, rule: null, values: FRESH_VALUES, aliases, isUnlocked: false }
const shown = withoutHeaderValues(proxy)

export const rulesSamples = [
  sample('rules', rulesPage, { ...owner, ...full }),
  sample('rules-viewer', rulesPage, { ...viewer, ...full }),
  sample('rules-empty', rulesPage, { ...owner, ...list, aliases: [], everywhere: nowhere, idle: [] }),
  sample('rules-of-alias', rulesPage, {
    ...owner,
    ...full,
    chosen: 'staging',
    failed: { intent: 'sets', error: { message: 'Load the page again.' }, values: { aliasId: 'a2' } },
  }),
  sample('rule', rulePage, { ...owner, rule: shown, place: null, isUnlocked: false, runs: null }),
  sample('rule-managed', rulePage, {
    ...owner,
    rule: withoutHeaderValues(pipeline),
    place: { kind: 'set' as const, id: 'set1', name: 'guestbook' },
    isUnlocked: false,
    runs: [run, refused, late],
  }),
  sample('rule-unlocked', rulePage, {
    ...owner,
    rule: withoutHeaderValues(pipeline),
    place: { kind: 'alias' as const, id: 'a2', name: 'staging' },
    isUnlocked: true,
    runs: [],
    failed: { intent: 'switch', error: { message: 'Unlock it first.' }, values: {} },
  }),
  sample('rule-new', ruleEditPage, fresh),
  sample('rule-new-failed', ruleEditPage, {
    ...fresh,
    values: { ...FRESH_VALUES, pathPattern: 'api', 'new-0-value': 'never-shown' },
    error: wrong('pathPattern'),
  }),
  sample('rule-edit', ruleEditPage, {
    ...fresh,
    rule: shown,
    values: { ...valuesOf(shown), 'header-0-do': 'replace', 'header-0-value': 'never-shown' },
    error: wrong('header-0-value'),
  }),
  sample('rule-edit-pipeline', ruleEditPage, {
    ...fresh,
    rule: withoutHeaderValues(pipeline),
    values: valuesOf(withoutHeaderValues(pipeline)),
    isUnlocked: true,
  }),
  sample('rule-new-pipeline', ruleEditPage, {
    ...fresh,
    values: { ...FRESH_VALUES, proxyType: 'pipeline', yaml: 'pathPattern: /api/x\npipeline: []\n' },
    error: {
      message: 'Check the marked fields.',
      details: [{ path: 'yaml', message: 'Line 2: pipeline must be a map' }],
    },
  }),
  sample('contact-form', contactFormPage, {
    ...owner,
    values: { path: '/api/contact', fields: 'name, email', schema: 'messages', next: '/thanks' },
    yaml: 'pathPattern: /api/contact\n',
  }),
  sample('contact-form-failed', contactFormPage, {
    ...owner,
    values: { path: 'api', fields: '', schema: 'messages', next: '/thanks' },
    yaml: null,
    error: wrong('path'),
  }),
  sample('rule-test', ruleTestPage, { ...owner, aliases, values: asked }),
  sample('rule-tested', ruleTestPage, { ...owner, aliases, values: asked, explained }),
  sample('rule-test-failed', ruleTestPage, { ...owner, aliases: [], values: {}, error: wrong('headers') }),
  sample('rule-set', ruleSetPage, {
    ...owner,
    set: { ...set, rules: [pipeline] },
    revisions: [
      {
        id: 'v2',
        gitSha: sha,
        source: null,
        trigger: 'sync' as const,
        current: true,
        ruleCount: 1,
        schedules: ['morning', 'noon', 'evening', 'night'],
        createdBy: maker,
        createdAt: at,
      },
      {
        id: 'v1',
        gitSha: null,
        source: null,
        trigger: 'sync' as const,
        current: false,
        ruleCount: 0,
        schedules: null,
        createdBy: maker,
        createdAt: at,
      },
    ],
  }),
  sample('rule-set-idle', ruleSetPage, {
    ...owner,
    set: { ...mocks, rules: [] },
    revisions: [],
    failed: { intent: 'settings', error: wrong('name'), values: { name: 'a,b' } },
  }),
  sample('rule-set-attached', ruleSetPage, {
    ...viewer,
    set: { ...preview, aliases: ['staging', 'demo'], rules: [] },
    revisions: [],
  }),
  sample('runs', runsPage, {
    ...owner,
    found: { data: [run, refused, late], pagination: { ...one, pages: 3 } },
    filters: { rule: 'r3', outcome: 'failed' },
    ruleName: 'POST /api/messages',
  }),
  sample('runs-empty', runsPage, {
    ...owner,
    found: none,
    filters: { rule: '', outcome: '' },
    ruleName: null,
  }),
  sample('run', runPage, { ...owner, run, isRuleThere: true }),
  sample('run-unkept', runPage, { ...owner, run: refused, isRuleThere: false }),
]
