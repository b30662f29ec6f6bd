import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, configFlags, configHelp, loadConfig } from './config.ts'

describe('defaults', () => {
  const config = loadConfig({ env: {} })

  test('are those of the contract', () => {
    expect(config).toMatchObject({
      port: 3000,
      host: '0.0.0.0',
      dataDir: './data',
      baseDomain: 'localhost',
      adminHost: 'localhost',
      trustProxy: [],
      requireProjectMembership: null,
      privateSiteResponse: null,
      rateLimitApi: 100,
      rateLimitUpload: 10,
      maxUploadBytes: 2147483648,
      maxDeploymentFiles: 50000,
      maxRecordBytes: 2097152,
      sandboxProcesses: 16,
      proxyAllowedTargets: [],
      logLevel: 'info',
      logFormat: 'json',
      logRetentionDays: 7,
      backupDir: null,
      backupEveryHours: 24,
      backupKeep: 7,
    })
  })

  test('ADMIN_HOST follows BASE_DOMAIN', () => {
    expect(loadConfig({ env: { BASE_DOMAIN: 'Example.com' } }).adminHost).toBe('admin.example.com')
  })

  test('a terminal gets readable lines', () => {
    expect(loadConfig({ env: {}, isTerminal: true }).logFormat).toBe('pretty')
  })

  test('a flag overrides the environment', () => {
    expect(loadConfig({ env: { PORT: '1' }, flags: { port: '2' } }).port).toBe(2)
  })

  test('an empty variable counts as unset', () => {
    expect(loadConfig({ env: { PORT: '' } }).port).toBe(3000)
  })
})

const good: [variable: string, text: string, key: keyof ReturnType<typeof loadConfig>, value: unknown][] = [
  ['MAX_UPLOAD_BYTES', '1GiB', 'maxUploadBytes', 2 ** 30],
  ['MAX_UPLOAD_BYTES', '500', 'maxUploadBytes', 500],
  ['BUFFERED_BODY_BYTES', '16MiB', 'bufferedBodyBytes', 2 ** 24],
  ['BUFFERED_BODY_BYTES', '16777216', 'bufferedBodyBytes', 2 ** 24],
  ['BODY_STALL_SECONDS', '1', 'bodyStallSeconds', 1],
  ['BODY_STALL_SECONDS', '600', 'bodyStallSeconds', 600],
  ['MAX_RECORD_BYTES', '1024', 'maxRecordBytes', 1024],
  ['MAX_RECORD_BYTES', '10MiB', 'maxRecordBytes', 10_485_760],
  ['SANDBOX_PROCESSES', '4', 'sandboxProcesses', 4],
  ['SANDBOX_PROCESSES', '64', 'sandboxProcesses', 64],
  ['AI_OPENAI_URL', 'https://models.example.com/v1', 'aiOpenaiUrl', 'https://models.example.com/v1'],
  ['AI_DAILY_TOKENS', '0', 'aiDailyTokens', 0],
  ['RATE_LIMIT_API', '0', 'rateLimitApi', 0],
  ['LOG_RETENTION_DAYS', '0', 'logRetentionDays', 0],
  ['BACKUP_DIR', '/backups', 'backupDir', { text: '/backups', store: null }],
  ['FEATURE_REQUIRE_PROJECT_MEMBERSHIP', 'true', 'requireProjectMembership', true],
  ['FEATURE_REQUIRE_PROJECT_MEMBERSHIP', 'false', 'requireProjectMembership', false],
  ['PUBLIC_URL', 'https://admin.example.com:8443', 'publicUrl', 'https://admin.example.com:8443'],
  [
    'PROXY_ALLOWED_TARGETS',
    'nas, 10.0.0.0/8 ,db:5432',
    'proxyAllowedTargets',
    ['nas', '10.0.0.0/8', 'db:5432'],
  ],
  [
    'PROXY_ALLOWED_TARGETS',
    '127.0.0.1:8443,::1,[::1]:8443,my_box',
    'proxyAllowedTargets',
    ['127.0.0.1:8443', '::1', '[::1]:8443', 'my_box'],
  ],
  ['HOST', '::', 'host', '::'],
  ['HOST', 'localhost', 'host', 'localhost'],
  ['HTTP_PORT', '8080', 'httpPort', 8080],
  ['HTTP_PORT', 'off', 'httpPort', null],
  [
    'ACME_DIRECTORY',
    'https://ca.internal:9000/acme/directory',
    'acmeDirectory',
    'https://ca.internal:9000/acme/directory',
  ],
  ['ACME_EMAIL', 'Ops@Example.com', 'acmeEmail', 'ops@example.com'],
  [
    'ACME_DNS_RESOLVERS',
    '1.1.1.1:53, [::1]:5353, ns.test',
    'acmeDnsResolvers',
    [
      { host: '1.1.1.1', port: 53 },
      { host: '::1', port: 5353 },
      { host: 'ns.test', port: 53 },
    ],
  ],
]

test.each(good)('%s=%s is accepted', (variable, text, key, value) => {
  expect(loadConfig({ env: { [variable]: text } })[key]).toEqual(value as never)
})

const bad: [variable: string, text: string, says: string][] = [
  ['PORT', '70000', 'PORT is "70000", but must be a whole number from 0 to 65535'],
  ['PORT', 'http', 'PORT is "http"'],
  ['BASE_DOMAIN', 'https://example.com', 'host name without scheme'],
  ['BASE_DOMAIN', 'exa mple.com', 'host name'],
  ['PUBLIC_URL', 'example.com', 'such as https://admin.example.com'],
  ['PUBLIC_URL', 'https://example.com/admin', 'scheme, host and port only'],
  ['TRUST_PROXY', '10.0.0.0/99', 'comma-separated list of CIDRs'],
  ['SERVER_ADDRESSES', '203.0.113.7,example.com', 'comma-separated list of IP addresses'],
  ['PRIVATE_SITE_RESPONSE', 'hide', 'not_found, login'],
  ['FEATURE_REQUIRE_PROJECT_MEMBERSHIP', 'maybe', 'true or false'],
  ['MAX_UPLOAD_BYTES', '-1', 'number of bytes'],
  [
    'MAX_RECORD_BYTES',
    '1023',
    'MAX_RECORD_BYTES is "1023", but must be a number of bytes from 1024 to 10485760',
  ],
  ['MAX_RECORD_BYTES', '11MiB', 'from 1024 to 10485760'],
  ['MAX_RECORD_BYTES', '0', 'from 1024 to 10485760'],
  ['MAX_RECORD_BYTES', 'much', 'from 1024 to 10485760'],
  ['SANDBOX_PROCESSES', '3', 'a whole number from 4 to 64'],
  ['SANDBOX_PROCESSES', '65', 'a whole number from 4 to 64'],
  ['AI_OPENAI_URL', 'http://models.example.com', 'an address that starts with https://'],
  ['AI_ANTHROPIC_URL', 'models', 'an address that starts with https://'],
  ['AI_GOOGLE_URL', 'https://models.example.com/?key=x', 'an address that starts with https://'],
  ['AI_DAILY_TOKENS', '-1', 'a whole number from 0'],
  ['RATE_LIMIT_API', '1.5', 'whole number'],
  ['LOG_LEVEL', 'loud', 'debug, info, warn, error, silent'],
  ['LOG_FORMAT', 'xml', 'pretty, json'],
  ['LOG_RETENTION_DAYS', '400', 'a whole number from 0 to 365'],
  ['BACKUP_EVERY_HOURS', '0', 'a whole number from 1 to 8760'],
  ['BUFFERED_BODY_BYTES', '16777215', 'a number of bytes from 16777216'],
  ['BUFFERED_BODY_BYTES', 'much', 'a number of bytes from 16777216'],
  ['BODY_STALL_SECONDS', '0', 'a whole number from 1 to 600'],
  ['BODY_STALL_SECONDS', '601', 'a whole number from 1 to 600'],
  ['BODY_STALL_SECONDS', '1.5', 'a whole number from 1 to 600'],
  ['BACKUP_KEEP', '0', 'a whole number from 1 to 10000'],
  ['ADMIN_EMAIL', 'nobody', 'email address'],
  ['HOST', '999.1.1.1', 'HOST is "999.1.1.1", but must be an address'],
  ['HOST', 'http://localhost', 'an address'],
  ['PROXY_ALLOWED_TARGETS', '10.0.0.0/99', 'hosts, host:port or CIDRs'],
  ['PROXY_ALLOWED_TARGETS', 'nas,https://db', 'hosts, host:port or CIDRs'],
  ['PROXY_ALLOWED_TARGETS', 'nas:70000', 'hosts, host:port or CIDRs'],
  ['TLS', 'on', 'TLS is "on", but must be one of off, auto, files'],
  ['HTTP_PORT', 'none', 'a whole number from 0 to 65535, or off'],
  ['ACME_DIRECTORY', 'http://ca.internal/directory', 'an address that starts with https://'],
  ['ACME_EAB_HMAC_KEY', 'a+b/c', 'a key in base64url'],
  ['ACME_EAB_HMAC_KEY', 'abcde', 'a key in base64url'],
  ['ACME_DNS', 'route53', 'one of acme-dns, rfc2136, exec, cloudflare, hetzner, persist'],
  ['ACME_DNS_EXEC', 'bin/dns', 'an absolute path'],
  ['ACME_DNS_SERVER', 'ns.test:0', 'a host or host:port'],
  ['ACME_DNS_SERVER', 'https://ns.test', 'a host or host:port'],
  ['ACME_DNS_TSIG_ALGORITHM', 'hmac-md5', 'one of hmac-sha256, hmac-sha384, hmac-sha512'],
  ['ACME_DNS_URL', 'http://auth.test', 'https://, or http:// on this machine'],
  ['ACME_DNS_API', 'http://127.0.0.1', 'an address that starts with https://'],
  ['ACME_DNS_RESOLVERS', '1.1.1.1:53,', 'a comma-separated list of host:port'],
  ['ACME_DNS_TIMEOUT_SECONDS', '0', 'a whole number from 1 to 900'],
  ['ACME_DNS_TIMEOUT_SECONDS', '901', 'a whole number from 1 to 900'],
]

test.each(bad)('%s=%s stops the start and says why', (variable, text, says) => {
  expect(() => loadConfig({ env: { [variable]: text } })).toThrow(ConfigError)
  expect(() => loadConfig({ env: { [variable]: text } })).toThrow(says)
})

test.each([
  ['SECRET_KEY', 'c2hvcnQ='],
  ['ADMIN_PASSWORD', 'short'],
  ['SMTP_URL', 'ftp://user:hunter2@host'],
  ['ACME_EAB_HMAC_KEY', 'not/base64url'],
  ['ACME_DNS_TSIG_SECRET', 'not base64'],
  ['ACME_DNS_TOKEN', 'two words'],
])('the value of %s is not shown', (variable, text) => {
  const message = (() => {
    try {
      loadConfig({ env: { [variable]: text, ADMIN_EMAIL: 'ann@example.com' } })
      return ''
    } catch (error) {
      return String(error)
    }
  })()
  expect(message).toContain(variable)
  expect(message).not.toContain(text)
})

test('ADMIN_EMAIL without ADMIN_PASSWORD is refused', () => {
  expect(() => loadConfig({ env: { ADMIN_EMAIL: 'ann@example.com' } })).toThrow('belong together')
})

const FILES = { TLS: 'files', TLS_CERT_FILE: 'c.pem', TLS_KEY_FILE: 'k.pem' }

test('with TLS on the default ports are 443 and 80', () => {
  expect(loadConfig({ env: FILES })).toMatchObject({ port: 443, httpPort: 80 })
  expect(loadConfig({ env: { TLS: 'auto' } })).toMatchObject({
    port: 443,
    httpPort: 80,
    acmeDirectory: 'https://acme-v02.api.letsencrypt.org/directory',
    acmeEmail: null,
  })
  expect(loadConfig({ env: { ...FILES, PORT: '8443' } }).port).toBe(8443)
  expect(loadConfig({ env: {} })).toMatchObject({ tls: 'off', port: 3000 })
})

const DNS = { TLS: 'auto', BASE_DOMAIN: 'sites.test' }
const TSIG = {
  ACME_DNS: 'rfc2136',
  ACME_DNS_SERVER: 'ns.sites.test',
  ACME_DNS_ZONE: 'sites.test',
  ACME_DNS_TSIG_NAME: 'svc.',
  ACME_DNS_TSIG_SECRET: 'c2VjcmV0',
}

test('the settings of a provider go together, and its program gets none of svc', () => {
  expect(loadConfig({ env: { ...DNS, ...TSIG } })).toMatchObject({
    acmeDnsServer: { host: 'ns.sites.test', port: 53 },
    acmeDnsTsigName: 'svc',
    acmeDnsResolvers: null,
    acmeDnsTimeoutSeconds: 120,
  })
  const own = { PATH: '/bin', AWS_SECRET: 'theirs', SECRET_KEY: '', ACME_EMAIL: 'a@b.test' }
  const exec = { ...DNS, ...own, ACME_DNS: 'exec', ACME_DNS_EXEC: '/usr/bin/dns' }
  const env = { PATH: '/bin', AWS_SECRET: 'theirs' }
  expect(loadConfig({ env: exec }).acmeDnsExec).toEqual({ path: '/usr/bin/dns', env })
})

const conflicts: [says: string, env: Record<string, string>][] = [
  ['TLS_CERT_FILE is missing: TLS=files needs it', { TLS: 'files', TLS_KEY_FILE: 'k.pem' }],
  ['TLS_KEY_FILE is missing: TLS=files needs it', { TLS: 'files', TLS_CERT_FILE: 'c.pem' }],
  ['HTTP_PORT is "off", but with TLS=auto', { TLS: 'auto', HTTP_PORT: 'off' }],
  ['HTTP_PORT is "8443", but must differ from PORT', { ...FILES, PORT: '8443', HTTP_PORT: '8443' }],
  [
    'PUBLIC_URL is "http://admin.test", but must be https with TLS on',
    { ...FILES, PUBLIC_URL: 'http://admin.test' },
  ],
  ['ACME_EAB_HMAC_KEY is missing', { ACME_EAB_KID: 'kid-1' }],
  ['ACME_EAB_KID is missing', { TLS: 'auto', ACME_EAB_HMAC_KEY: 'c2VjcmV0' }],
  ['ACME_DNS_EXEC is missing', { ...DNS, ACME_DNS: 'exec' }],
  ['ACME_DNS_URL is missing', { ...DNS, ACME_DNS: 'acme-dns' }],
  ['ACME_DNS_TOKEN is missing', { ...DNS, ACME_DNS: 'cloudflare' }],
  ['ACME_DNS_TOKEN is missing', { ...DNS, ACME_DNS: 'hetzner' }],
  ['ACME_DNS_SERVER is missing', { ...DNS, ACME_DNS: 'rfc2136' }],
  ['ACME_DNS_TSIG_SECRET is missing', { ...DNS, ...TSIG, ACME_DNS_TSIG_SECRET: '' }],
  ['ACME_DNS_TOKEN is set, but does nothing', { ...DNS, ACME_DNS: 'persist', ACME_DNS_TOKEN: 't' }],
  ['ACME_DNS_API is set, but does nothing', { ...DNS, ...TSIG, ACME_DNS_API: 'https://a.test' }],
  ['ACME_DNS is missing', { ACME_DNS_TOKEN: 't' }],
  ['BASE_DOMAIN is "localhost"', { TLS: 'auto', ACME_DNS: 'persist' }],
]

test.each(conflicts)('conflicting settings are reported: %s', (says, env) => {
  expect(() => loadConfig({ env })).toThrow(ConfigError)
  expect(() => loadConfig({ env })).toThrow(says)
})

const variables = [...configHelp().matchAll(/^ {2}([A-Z_]+) /gm)].map((match) => match[1] ?? '')

test('every variable has a flag and a line of help', () => {
  expect(variables).toHaveLength(Object.keys(configFlags).length)
  expect(Object.keys(configFlags)).toContain('base-domain')
})

const manual = readFileSync(join(import.meta.dir, '../../docs/operating.md'), 'utf8')

test.each(variables)('the manual explains %s', (name) => {
  expect(
    manual.split('\n').filter((line) => line.startsWith('|') && line.includes(`\`${name}\``)),
  ).not.toEqual([])
})

test.each([
  ['BASE_DOMAIN', 'BÜCHER.example.', 'baseDomain', 'xn--bcher-kva.example'],
  ['BASE_DOMAIN', 'xn--bcher-kva.example', 'baseDomain', 'xn--bcher-kva.example'],
  ['BASE_DOMAIN', '例え。テスト', 'baseDomain', 'xn--r8jz45g.xn--zckzah'],
  ['BASE_DOMAIN', '10-0-0-5.nip.io', 'baseDomain', '10-0-0-5.nip.io'],
  ['BASE_DOMAIN', 'sites.0xyz', 'baseDomain', 'sites.0xyz'],
  ['ADMIN_HOST', 'verwaltung.straße.de', 'adminHost', 'verwaltung.xn--strae-oqa.de'],
  [
    'PROXY_ALLOWED_TARGETS',
    'Bücher.example:8443, nas, 10.0.0.0/8',
    'proxyAllowedTargets',
    ['xn--bcher-kva.example:8443', 'nas', '10.0.0.0/8'],
  ],
  ['PROXY_ALLOWED_TARGETS', '例え.テスト', 'proxyAllowedTargets', ['xn--r8jz45g.xn--zckzah']],
] as const)('%s %p is kept as its A-labels', (name, value, key, kept) => {
  expect<unknown>(loadConfig({ env: { [name]: value } })[key]).toEqual(kept)
})

const NUMBERS = [
  '10.0.0.5',
  '10.0.0.5.',
  '127.1',
  '2130706433',
  'sites.123',
  'sites.0x1F',
  '0x7f000001',
  'a.0x',
  'sites.１２',
]
test.each(['BASE_DOMAIN', 'ADMIN_HOST'].flatMap((name) => NUMBERS.map((value) => [name, value] as const)))(
  '%s %p ends in a number, so that no browser opens it',
  (name, value) => {
    expect(() => loadConfig({ env: { [name]: value } })).toThrow(
      new RegExp(`^${name} is .* such as 10-0-0-5\\.nip\\.io`),
    )
  },
)

test.each([
  ['BASE_DOMAIN', 'xn--a', 'host name without scheme'],
  ['ADMIN_HOST', 'a%41.example', 'host name without scheme'],
  ['ADMIN_HOST', '[::1]', 'host name without scheme'],
  ['PROXY_ALLOWED_TARGETS', 'bü cher.example', 'hosts, host:port or CIDRs'],
  ['PROXY_ALLOWED_TARGETS', 'ünas:70000', 'hosts, host:port or CIDRs'],
])('%s %p is no name in any script', (name, value, says) => {
  expect(() => loadConfig({ env: { [name]: value } })).toThrow(says)
})
