import { expect, test } from 'bun:test'
import { ConfigError, loadConfig } from './config.ts'

const GOOD = {
  id: 'company',
  displayName: 'Company',
  issuer: 'https://id.example.com',
  clientId: 'svc',
  clientSecret: 's3cret-of-the-client',
}

const load = (providers: unknown) =>
  loadConfig({
    env: { OIDC_PROVIDERS: typeof providers === 'string' ? providers : JSON.stringify(providers) },
  })

test('providers are parsed, and openid is added to the scopes', () => {
  expect(loadConfig({ env: {} }).oidcProviders).toEqual([])
  expect(load([GOOD]).oidcProviders).toEqual([{ ...GOOD, scopes: ['openid', 'email', 'profile'] }])
  expect(load([{ ...GOOD, scopes: ['email'] }]).oidcProviders[0]?.scopes).toEqual(['openid', 'email'])
})

test('an email without email_verified is trusted only where that is set', () => {
  expect(load([{ ...GOOD, trustEmail: true }]).oidcProviders[0]?.trustEmail).toBe(true)
  expect(load([{ ...GOOD, trustEmail: false }]).oidcProviders[0]?.trustEmail ?? false).toBe(false)
})

const bad: [what: string, providers: unknown][] = [
  ['no JSON', '{'],
  ['no list', GOOD],
  ['no object', ['company']],
  ['no secret', [{ ...GOOD, clientSecret: '' }]],
  ['no id', [{ ...GOOD, id: undefined }]],
  ['an id that is not a path segment', [{ ...GOOD, id: '../x' }]],
  ['an issuer without TLS', [{ ...GOOD, issuer: 'http://id.example.com' }]],
  ['an issuer that is not a URL', [{ ...GOOD, issuer: 'id.example.com' }]],
  ['scopes that are not a list', [{ ...GOOD, scopes: 'openid email' }]],
  ['two with the same id', [GOOD, GOOD]],
  ['trustEmail that is a text', [{ ...GOOD, trustEmail: 'true' }]],
]

test.each(bad)('%s stops the start, without showing a secret', (_what, providers) => {
  expect(() => load(providers)).toThrow(ConfigError)
  expect(() => load(providers)).toThrow(/^OIDC_PROVIDERS is \(hidden\), but must be a JSON list/)
})
