import { describe, expect, test } from 'bun:test'
import { assets } from '../assets/manifest.ts'
import { type Html, renderPage } from '../components/html.ts'
import { samples } from './samples.ts'

type Element = { tag: string; attributes: Map<string, string> }

function elementsOf(document: Html): Element[] {
  const found: Element[] = []
  new HTMLRewriter()
    .on('*', {
      element: ({ tagName, attributes }) =>
        void found.push({
          tag: tagName,
          attributes: new Map([...attributes].map(([name, value]) => [name, value])),
        }),
    })
    .transform(renderPage(document))
  return found
}

const withTag = (elements: Element[], ...tags: string[]) => elements.filter(({ tag }) => tags.includes(tag))

const valuesOf = (elements: Element[], attribute: string) =>
  elements.flatMap(({ attributes }) => attributes.get(attribute)?.split(' ') ?? [])

/** Matches markup that the CSP would block, and code that would run without a CSP. */
const hasNoText = ({ attributes }: Element): boolean =>
  !attributes.get('alt') && attributes.get('aria-hidden') !== 'true'

const isPicture = (attributes: Element['attributes']): boolean =>
  attributes.get('sandbox') === 'allow-scripts' &&
  attributes.get('src')?.startsWith('/_svc/picture/') === true

function forbiddenIn(elements: Element[]): string[] {
  return elements.flatMap(({ tag, attributes }) => [
    ...(['style', 'object', 'embed', 'base'].includes(tag) ? [tag] : []),
    ...(tag === 'iframe' && !isPicture(attributes) ? [tag] : []),
    ...(tag === 'script' && !assets.has(attributes.get('src') ?? '') ? [tag] : []),
    ...[...attributes.keys()].filter(
      (name) => name === 'style' || name === 'srcdoc' || name.startsWith('on'),
    ),
    ...['href', 'action', 'formaction', 'src', 'content'].filter((name) =>
      /^(0;url=)?\s*javascript:/i.test(attributes.get(name) ?? ''),
    ),
  ])
}

describe.each(samples.map((sample) => [sample.name, sample] as const))('page %s', (_name, sample) => {
  const elements = elementsOf(sample.html())
  const ids = valuesOf(elements, 'id')

  test('holds no inline style or script and loads nothing from elsewhere', () => {
    expect(forbiddenIn(elements)).toEqual([])
    const loaded = [
      ...valuesOf(withTag(elements, 'link'), 'href'),
      ...valuesOf(withTag(elements, 'img'), 'src'),
    ]
    const isOwn = (url: string) =>
      assets.has(url) ||
      /^(data:image\/|\/repo\/|\/_svc\/picture\/|\/api\/deployments\/[^/]+\/content\?|\/api\/projects\/[^/]+\/files\/[^/]+\/content$)/.test(
        url,
      )
    expect(loaded.filter((url) => !isOwn(url))).toEqual([])
    expect(loaded.length).toBeGreaterThanOrEqual(2)
  })

  test('names every control, and every reference leads somewhere', () => {
    const labelled = valuesOf(withTag(elements, 'label'), 'for')
    const unnamed = withTag(elements, 'input', 'select', 'textarea').filter(
      ({ attributes }) =>
        attributes.get('type') !== 'hidden' &&
        !attributes.has('aria-label') &&
        !labelled.includes(attributes.get('id') ?? ''),
    )
    expect(unnamed).toEqual([])
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    const references = ['aria-describedby', 'aria-labelledby', 'for', 'popovertarget']
    const links = valuesOf(elements, 'href').filter((href) => href.length > 1 && href.startsWith('#'))
    const named = [
      ...references.flatMap((name) => valuesOf(elements, name)),
      ...links.map((href) => href.slice(1)),
    ]
    const dangling = named.filter((id) => !ids.includes(id))
    expect(dangling).toEqual([])
    expect(withTag(elements, 'img').filter(hasNoText)).toEqual([])
  })

  test('has one heading of the first level, landmarks and a skip link', () => {
    expect(withTag(elements, 'h1')).toHaveLength(1)
    expect(withTag(elements, 'main')).toHaveLength(1)
    expect(withTag(elements, 'html')[0]?.attributes.get('lang')).toBe('en')
    expect(withTag(elements, 'a')[0]?.attributes.get('href')).toBe('#main')
    expect(ids).toContain('main')
  })

  test('posts its forms, never shows a password again, and focuses at most one field', () => {
    const unsafe = withTag(elements, 'form').filter(
      ({ attributes }) => attributes.get('method') !== 'post' && attributes.get('role') !== 'search',
    )
    expect(unsafe).toEqual([])
    const passwords = elements.filter(({ attributes }) => attributes.get('type') === 'password')
    expect(passwords.filter(({ attributes }) => attributes.has('value'))).toEqual([])
    const focused = withTag(elements, 'input').filter(({ attributes }) => attributes.has('autofocus'))
    expect(focused.length).toBeLessThanOrEqual(1)
  })

  test('links every field error to its field', () => {
    const errors = elements.filter(({ attributes }) => attributes.get('class') === 'field-error')
    const invalid = elements.filter(({ attributes }) => attributes.get('aria-invalid') === 'true')
    expect(valuesOf(invalid, 'aria-describedby')).toEqual(
      expect.arrayContaining(errors.map(({ attributes }) => attributes.get('id') ?? '')),
    )
    expect(invalid).toHaveLength(errors.length)
  })

  test('renders the same twice', () => {
    expect(renderPage(sample.html())).toBe(renderPage(sample.html()))
  })

  test.each([
    '"><script>alert(1)</script><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    '</title></textarea></style><script>alert(1)</script>',
  ])('stays whole when every text of its data is %s', (hostile) => {
    const poisoned = elementsOf(sample.htmlWith((text, key) => (CHOICES.has(key) ? text : hostile)))
    expect(forbiddenIn(poisoned)).toEqual([])
  })
})

/** Keys whose values are our own and select a branch. */
const CHOICES: ReadonlySet<string> = new Set(['step', 'purpose', 'intent', 'tone', 'code', 'after'])

/** Markup that a page must contain. */
const contents: [page: string, expected: string][] = [
  ['setup', 'name="setupToken"'],
  ['setup-link', '<input type="hidden" name="setupToken" value="tok-1"/>'],
  ['setup-link', 'value="ada@example.com"'],
  ['setup-link', 'aria-describedby="password-error password-hint"'],
  ['setup-refused', 'id="setupToken"'],
  ['records-empty', 'The schema has no fields yet'],
  ['setup-done', 'svc deploy ./dist --api-url https://admin.sites.example.com'],
  ['setup-done', 'href="/api/docs"'],
  ['setup-done', 'BASE_DOMAIN=sites.example.com TLS=auto svc serve'],
  ['setup-done', '<code>sites.example.com</code> and <code>*.sites.example.com</code>'],
  ['setup-done', '<code>TRUST_PROXY</code>'],
  ['setup-done-off', 'The server speaks plain HTTP'],
  ['setup-done-off', '<code>TLS=files</code> with a certificate of your own'],
  ['setup-done-auto', 'ports 80 and 443'],
  ['setup-done-files', '<code>TLS_CERT_FILE</code>'],
  ['setup-done-files', '<code>*.sites.example.com</code>'],
  ['sign-in', 'autocomplete="username"'],
  ['sign-in', 'autocomplete="current-password"'],
  ['sign-in', 'name="redirect" value="https://handbook.example.com/start"'],
  ['sign-in', '/api/auth/oidc/github/start?redirect=https%3A%2F%2Fhandbook.example.com%2Fstart'],
  ['sign-in', 'To see <strong>handbook.example.com</strong>'],
  ['sign-in', '/signup?redirect='],
  ['sign-in', '/forgot-password'],
  ['sign-in-refused', 'role="alert"'],
  ['sign-in-mfa', 'name="mfaTicket" value="ticket-1"'],
  ['sign-in-mfa', 'autocomplete="one-time-code"'],
  ['sign-up', 'autocomplete="new-password"'],
  ['sign-up', 'minlength="8"'],
  ['sign-up-exists', 'href="/signin"'],
  ['reset', 'name="token" value="tok-2"'],
  ['reset-spent', 'href="/forgot-password"'],
  ['continue', '<meta http-equiv="refresh" content="0;url=https://handbook.example.com/start"/>'],
  ['forbidden', 'grace@example.com'],
  ['forbidden', 'href="https://admin.sites.example.com/account"'],
  ['forbidden', 'action="/_svc/auth/signout"'],
  ['no-site', 'No site lives here'],
  ['no-site', 'href="https://admin.sites.example.com/signin?redirect=x">Is it a private site? Sign in</a>'],
  ['continue-joined', 'You have joined the site'],
  ['account', 'You own it. Transfer ownership first.'],
  ['account', 'disabled aria-describedby="stay-p1"'],
  ['account', 'name="projectId" value="p2"'],
  ['account', 'name="sessionId" value="s2"'],
  ['account', 'Only on handbook.example.com'],
  ['account-enroll', 'src="data:image/svg+xml,%3Csvg'],
  ['account-enroll', 'JBSW Y3DP EHPK 3PXP'],
  ['account-codes', '7hqf-29dk\npw4m-x8ct'],
  ['account-leave-failed', 'Owners cannot leave their own site.'],
  ['home', 'href="/projects/p1"'],
  // One element, as a cell on a phone has two columns: the label and this.
  ['home-list', 'data-label="Health"><div><a'],
  ['home-list', 'href="/projects/p1/domains/h1"'],
  ['home-list', 'data-label="Health"><span class="muted">–'], // nothing is published
  ['home-empty', 'action="/projects/new?'],
  ['home-none-found', 'No project has “zebra” in its name.'],
  ['new-project-failed', 'value="web site"'],
  ['publish', 'enctype="multipart/form-data"'],
  ['publish', 'svc deploy ./dist'],
  ['publish', '<a href="/keys">Create a key</a>'],
  ['publish', '{{ secrets.SVC_API_KEY }}'],
  ['project', 'is locked, so uploads do not move it'],
  ['project', 'All 20</a>'],
  ['project-not-live', 'not live. Point an alias at it'],
  ['project-empty', 'data-wait-for="p1"'],
  ['deployments', 'href="/projects/p1/deployments?branch=main&amp;page=2"'],
  ['deployment', '1 added, 1 changed, 1 removed'],
  ['deployment', 'It is live as production.'],
  ['publish', 'It replaces the whole site: choose the folder with everything in it.'],
  ['file', '&lt;h1>About&lt;/h1>'],
  ['data', 'href="/projects/p1/rules/r1"'],
  ['data', 'about 2.4\u00a0MB'],
  ['records-filtered', 'text contains hut: remove this filter'],
  ['files', 'href="/projects/p1/files?path=pictures%2F2026-11-20"'],
  ['files', '<span class="visually-hidden"> hut.png</span>'],
  ['files', 'name="files" value="1204"'],
  ['file-of-project', 'href="/projects/p1/data/s1/r1"'],
  ['file-of-project-text', '&lt;script>'],
  [
    'records-filtered',
    'export?filter%5Bstars%5D%5Bgte%5D=3&amp;filter%5Btext%5D%5Blike%5D=%25hut%25&amp;format=csv',
  ],
  ['alias', 'href="/projects/p1/aliases/a1/move?to=d2"'],
  ['move', 'Roll production back?'],
  ['alias', 'href="/projects/p1/rules?alias=production"'],
  ['rules', 'name="move" value="up r2"'],
  ['rules', 'Managed by the repository <strong>acme/website</strong>'],
  ['rules-of-alias', 'name="detach" value="set2"'],
  ['rules-empty', 'svc rules push .svc/proxy-rules/guestbook --api-url https://admin.sites.example.com'],
  ['rule', 'No value yet'],
  ['rule', 'No headers'],
  ['rule-managed', 'name="intent" value="unlock"'],
  ['rule-managed', '<code>steps.form.mail</code>'],
  ['rule-unlocked', 'name="unlocked" value="true"'],
  ['rule-edit', 'name="header-0-name" value="x-service-key"'],
  ['rule-tested', 'href="/projects/p1/rules/r1"'],
  ['rule-set-idle', 'Delete the rule set '],
  ['rule-set', 'name="revisionId" value="v1"'],
  ['rule-set-idle', 'name="intent" value="everywhere"'],
  ['runs', 'href="/projects/p1/rules/runs?rule=r3&amp;outcome=failed&amp;page=2"'],
  ['run', 'It answered 500'],
  ['run-unkept', '“Keep the input and output of each step in the run log”'],
  ['domains', 'href="/projects/p1/domains?page=2"'],
  ['domains', 'Alias is missing'],
  ['domains-no-alias', 'so publish something to an alias first'],
  ['domains-refused', '<details class="more" open>'],
  ['domain-unproven', '<code>_svc-challenge.www.example.net</code>'],
  ['domain-unproven', 'you must verify it again'],
  ['domain-unproven', 'admin.sites.example.com'],
  ['domain-certificate-failed', 'Timeout during connect (likely firewall problem)'],
  ['domain-certificate-failed', '<strong>port 80</strong>'],
  ['domain-certificate-pending', 'Requested'],
  ['domain-certificate-not-renewed', 'Try again now'],
  ['domain-certificate-expired', '<strong>CAA</strong>'],
  ['domain-certificate-valid', 'renews it automatically'],
  ['domain-certificate-files', 'TLS_CERT_FILE'],
  ['domain', 'or with <code>TLS=files</code>'],
  ['traffic', '900 seconds'],
  ['traffic', 'Delete the rule preview=yes?'],
  ['traffic-viewer', '<progress id="share-production" value="90"'],
  [
    'traffic-refused',
    'name="weight-0" type="number" min="0" max="100" step="1" inputmode="numeric" value="70"',
  ],
  ['people-invited', '/invite?token=tok-3'],
  ['users', 'href="#new-user"'],
  ['groups', 'href="#new-group"'],
  ['keys', 'href="#new-key"'],
  ['domains', 'href="#new-domain"'],
  ['people', 'href="#invite"'],
  ['aliases', 'href="#new-alias"'],
  ['aliases', 'list="deployments"'],
  ['aliases', 'label="#11 New prices, 12 Nov 2026, '],
  ['project-settings-failed', '<a href="/admin/settings/auth">Settings, Project Membership</a>'],
  ['audit', '<option value="publishing">Publishing</option>'],
  ['records', '>New record</a>'],
  ['schema-new', '<a class="btn btn-secondary" href="/projects/p1/data">Cancel</a>'],
  ['deployments', '>Filter</button>'],
  ['project-settings', 'aria-label="Save the visibility">Save</button>'],
  ['person', 'The group Editors'],
  ['people', 'Remove Editors from the project?'],
  ['people', 'title="20 Nov 2026, 08:12 UTC" data-day="true">20 Nov 2026<'],
  ['person', 'Delete the project'],
  ['workspace-settings', 'FEATURE_REQUIRE_PROJECT_MEMBERSHIP'],
  ['audit', '<del>false</del> → <ins>true</ins>'],
  ['audit', 'aria-label="Undo: ada@example.com changed the settings of acme/website"'],
  ['health', '1 day 3 hours'],
  ['health', 'until'],
  ['project-analytics', 'aria-label="Views: 12 345 in all, at most 12 345"'],
  ['project-analytics', '<title>18 Nov 2026: 12 345</title>'],
  ['project-analytics', '<span>12 345</span><span>0</span>'],
  ['project-analytics', '<span>18 Nov 2026</span><span>19 Nov 2026</span>'],
  ['project-analytics-empty', 'No visits yet'],
  ['workspace-analytics', 'href="/projects/p1/analytics"'],
  ['storage', '60 MB of 100 MB'],
  ['machines', 'three is 9 s behind: it shows sites as they were then.'],
  ['machines', 'four does not report any more'],
  ['machines', 'three runs version 1.1.0, and one runs 1.2.0.'],
  ['machines', '95 % found in it'],
  ['machines', 'aria-label="one writes into s3://bucket/workspace, and two, three, four follow there."'],
  ['machines', '50 MB in 1 200 objects'],
  ['machines-alone', 'No stand-by follows one: if it is lost'],
  ['machines-alone', 'did not answer within 10 s'],
  ['machines-alone', '<code>varnish</code>'],
  ['machines-none', 'docs/scaling.md'],
  ['certificates', '<code>ACME_DNS=cloudflare</code>'],
  ['certificates', 'CAA record for shop.example.com prevents issuance'],
  ['certificates-to-set', 'Name of the CNAME record'],
  ['certificates-to-set', '_acme-challenge.sites.example.com'],
  ['certificates-to-set', 'name="intent" value="retry-wildcard"'],
  ['certificates-failed', 'The record did not appear at 192.0.2.53 within 120 s'],
  ['certificates-failed', 'It was tried just now'],
  ['certificates-alone', '<dt>rfc2136</dt>'],
  ['certificates-files', '*.sites.example.com'],
  ['certificates-off', '/docs/operating#behind-a-reverse-proxy'],
  ['backups', 'name="intent" value="make"'],
  ['backups-failed', 'The disk is full'],
  ['backups-none', 'BACKUP_DIR'],
  ['project-empty', '--project acme/website'],
  ['keys-created', 'svc_9fK2mT0cQ4vZr8yLx1WbN6sJ3hDgPaEuRiYo5kXqB7V'],
  ['keys-empty', '<option value="90" selected>'],
]

test.each(contents)('%s holds %s', (name, expected) => {
  expect(renderedSample(name)).toContain(expected)
})

const absences: [page: string, unexpected: string][] = [
  ['sign-in-refused', '/signup'], // sign-up is closed
  ['sign-in-mfa', 'type="password"'],
  ['sign-up-closed', '<form'],
  ['reset-spent', '<form'],
  ['setup-refused', 'tok-1'],
  ['account', 'name="sessionId" value="s1"'], // the current session
  ['account', 'name="projectId" value="p1"'], // an owner cannot leave
  ['account', 'Connect GitHub'], // already connected
  ['home-member', 'New project'],
  // A created thing had no values before.
  ['audit', 'none</span> →'],
  ['deployment-viewer', 'Move staging here'],
  ['deployment-viewer', 'intent'],
  ['people-viewer', 'intent'],
  ['people-viewer', '#invite'],
  ['domains-no-alias', '#new-domain'],
  ['records-viewer', 'type="checkbox"'],
  ['schema', 'fields[0].name" value="email" type="text"'], // a stored field keeps its name
  ['domain-viewer', 'intent'],
  ['domain', 'verify it again'],
  ['traffic-viewer', 'intent'],
  ['traffic-none', 'Stop splitting'],
  ['machines', 'No stand-by'],
  ['machines', 'two runs version'],
  ['machines', 'four is'],
  ['machines-alone', 'class="flow'],
  ['machines-none', 'class="notice'],
  ['machines-none', 'Epoch'],
  ['certificates', 'value="retry-wildcard"'], // nothing to try while all is well
  ['certificates-alone', 'value="retry-wildcard"'],
  ['certificates-off', '<table'],
  ['backups-none', 'Back up now'],
  ['alias', 'move?to=d0'], // deleted, so it cannot be rolled back to
  ['rules-viewer', '<button type="submit" class="btn btn-quiet'],
  ['rules-viewer', 'rules/new'],
  ['rule', 'never-shown'], // the value of a header
  ['rule-edit', 'never-shown'],
  ['rule-new-failed', 'never-shown'],
  ['rule-managed', '/edit"'],
  ['rule-managed', 'value="delete"'],
  ['rule-set-attached', 'intent'],
  ['workspace-settings', 'name="requireProjectMembership"'], // set by the environment
  ['deployment', 'Delete this deployment'], // while it is live
  ['home-member', 'href="/keys"'],
]

test.each(absences)('%s does not hold %s', (name, unexpected) => {
  expect(renderedSample(name)).not.toContain(unexpected)
})

function renderedSample(name: string): string {
  const found = samples.find((sample) => sample.name === name)
  if (found === undefined) throw new Error(`no sample ${name}`)
  return renderPage(found.html())
}
