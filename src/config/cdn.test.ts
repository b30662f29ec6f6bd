import { expect, test } from 'bun:test'
import { ConfigError, loadConfig } from './config.ts'

const load = (env: Record<string, string>) => loadConfig({ env })
const API = { CDN_TOKEN: 'tok', CDN_ID: 'z1' }

const good: Record<string, string>[] = [
  {},
  { CDN_KIND: 'varnish', CDN_URL: 'http://10.0.0.1:6081, http://10.0.0.2:6081' },
  { CDN_KIND: 'fastly', ...API },
  { CDN_KIND: 'cloudflare', ...API, CDN_URL: 'https://api.example/v4' },
  { CDN_KIND: 'webhook', CDN_URL: 'https://example.com/purge', CDN_TOKEN: 'tok', CDN_MAX_AGE: '0' },
]
test.each(good)('%p is taken', (env) => {
  expect(load(env).cdnKind).toBe((env['CDN_KIND'] ?? null) as never)
})

const bad: [env: Record<string, string>, message: RegExp][] = [
  [{ CDN_KIND: 'akamai' }, /^CDN_KIND is "akamai", but must be one of varnish/],
  [{ CDN_URL: 'http://a' }, /^CDN_KIND is missing: CDN_URL is set/],
  [{ CDN_TOKEN: 'sesame' }, /^CDN_KIND is missing: CDN_TOKEN/],
  [{ CDN_KIND: 'varnish' }, /^CDN_URL is missing/],
  [{ CDN_KIND: 'varnish', CDN_URL: 'ftp://sesame' }, /^CDN_URL is \(hidden\)/],
  [{ CDN_KIND: 'varnish', CDN_URL: 'http://u:sesame@a' }, /^CDN_URL is \(hidden\)/],
  [{ CDN_KIND: 'webhook', CDN_URL: 'http://a' }, /^CDN_TOKEN is missing/],
  [{ CDN_KIND: 'fastly', CDN_TOKEN: 'sesame' }, /^CDN_ID is missing/],
  [{ CDN_KIND: 'cloudflare', CDN_ID: 'z' }, /^CDN_TOKEN is missing/],
  [{ CDN_KIND: 'fastly', ...API, CDN_URL: 'https://a,https://b' }, /^CDN_URL must be one address/],
  [{ CDN_KIND: 'fastly', CDN_ID: '../x', CDN_TOKEN: 't' }, /^CDN_ID is/],
  [{ CDN_KIND: 'fastly', CDN_ID: 'x', CDN_TOKEN: 'se same' }, /^CDN_TOKEN is \(hidden\)/],
  [{ CDN_KIND: 'fastly', ...API, CDN_MAX_AGE: '-1' }, /^CDN_MAX_AGE is "-1"/],
]
test.each(bad)('%p stops the start, without showing a secret', (env, message) => {
  expect(() => load(env)).toThrow(ConfigError)
  expect(() => load(env)).toThrow(message)
  expect(() => load(env)).not.toThrow(/sesame|se same/)
})
