/**
 * What a visitor may not say about himself: headers in which a proxy, a CDN or a sign-in gateway tells the backend who
 * is asking and from where. A backend believes them from us, so they count only from a peer in `TRUST_PROXY`.
 * contract 12.5.
 */

/**
 * The name as backends see it that read `X_Real.IP` and `x-real-ip` as one: lower case, every run outside `a-z0-9` one
 * `-`, none at the ends. contract 12.
 */
export function foldedName(name: string): string {
  const lower = name.toLowerCase()
  return FOLDED.test(lower) ? lower : lower.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
}

/** Whether a header with this folded name passes only from a peer in `TRUST_PROXY`. */
export const isClaim = (folded: string): boolean => CLAIMS.has(folded) || CLAIMS_BEGIN.test(folded)

/** Whether a header with this folded name passes from nobody: svc alone may tell a backend who somebody is. */
export const isOursToSay = (folded: string): boolean =>
  folded === 'x-svc-identity' || folded.startsWith('remote-')

const FOLDED = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

const CLAIMS: ReadonlySet<string> = new Set([
  'cf-ipcountry',
  'cf-pseudo-ipv4',
  'cf-visitor',
  'client-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'front-end-https',
  'proxy',
  'proxy-client-ip',
  'remote-addr',
  'true-client-ip',
  'x-appengine-user-ip',
  'x-arr-ssl',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-host',
  'x-http-host-override',
  'x-originating-ip',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-remote-user',
  'x-rewrite-url',
  'x-scheme',
  'x-script-name',
  'x-url-scheme',
])

const CLAIMS_BEGIN = new RegExp(
  `^(?:${[
    'cf-access-',
    'cf-connecting-ip',
    'client-cert', // RFC 9440
    'forwarded',
    'ssl-client-',
    'tailscale-user-',
    'wl-proxy-',
    'x-amzn-oidc-',
    'x-auth-request-',
    'x-authentik-',
    'x-client-cert',
    'x-forwarded',
    'x-goog-authenticated-user-',
    'x-goog-iap-',
    'x-ms-client-principal',
    'x-original-',
    'x-ssl-',
    'x-webauth-',
  ].join('|')})`,
)
