import domainStatus from '../islands/domain-status.js' with { type: 'text' }
import live from '../islands/live.js' with { type: 'text' }
import logTail from '../islands/log-tail.js' with { type: 'text' }
import palette from '../islands/palette.js' with { type: 'text' }
import publish from '../islands/publish.js' with { type: 'text' }
import report from '../islands/report.js' with { type: 'text' }
import retention from '../islands/retention.js' with { type: 'text' }
import ruleForm from '../islands/rule-form.js' with { type: 'text' }
import ruleOrder from '../islands/rule-order.js' with { type: 'text' }
import ruleText from '../islands/rule-text.js' with { type: 'text' }
import schedule from '../islands/schedule.js' with { type: 'text' }
import selection from '../islands/selection.js' with { type: 'text' }
import shortcuts from '../islands/shortcuts.js' with { type: 'text' }
import toasts from '../islands/toasts.js' with { type: 'text' }
import trafficWeights from '../islands/traffic-weights.js' with { type: 'text' }
import styles from './app.css' with { type: 'text' }
import app from './app.js' with { type: 'text' }
import favicon from './favicon.svg' with { type: 'text' }
import publishing from './publishing.js' with { type: 'text' }
import showPassword from './show-password.js' with { type: 'text' }

type Asset = { body: string; contentType: string }

/** A file in this folder that pages may refer to. */
type AssetName = keyof typeof FILES

/** One file per island. Each island can use what app.js and publishing.js declare, but nothing of another island. */
const ISLANDS = [
  palette,
  shortcuts,
  toasts,
  publish,
  logTail,
  domainStatus,
  trafficWeights,
  ruleOrder,
  ruleForm,
  ruleText,
  selection,
  retention,
  schedule,
  report,
  live,
]

/** All islands in one script, so one request loads them. */
const script = ["'use strict'", app, publishing, ...ISLANDS.map((island) => `{\n${island}}`)].join('\n')

/** The dark colours once more, for people who chose them. */
const dark = styles.match(/:root:not\(\[data-theme='light'\]\) (\{[^}]*\})/)?.[1]

const css = `${styles}\n[data-theme='dark'] ${dark}\n`

const FILES = {
  'app.css': { body: css, contentType: 'text/css; charset=utf-8' },
  'app.js': { body: script, contentType: 'text/javascript; charset=utf-8' },
  'show-password.js': { body: showPassword, contentType: 'text/javascript; charset=utf-8' },
  'favicon.svg': { body: favicon, contentType: 'image/svg+xml; charset=utf-8' },
} as const satisfies Record<string, Asset>

const urls = Object.fromEntries(
  Object.entries(FILES).map(([name, asset]) => [name, hashedUrl(name, asset.body)]),
) as Record<AssetName, string>

/** All assets by URL path. The name contains a hash of the content, so responses may be cached forever. */
export const assets: ReadonlyMap<string, Asset> = new Map(
  Object.entries(FILES).map(([name, asset]) => [hashedUrl(name, asset.body), asset]),
)

/** The path of an asset, the same on the admin host and on every site host. */
export function assetUrl(name: AssetName): string {
  return urls[name]
}

function hashedUrl(name: string, body: string): string {
  const hash = new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 12)
  const dot = name.lastIndexOf('.')
  return `/_svc/assets/${name.slice(0, dot)}.${hash}${name.slice(dot)}`
}
