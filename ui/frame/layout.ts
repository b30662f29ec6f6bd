import favicon from '../assets/favicon.svg' with { type: 'text' }
import { assetUrl } from '../assets/manifest.ts'
import { type Content, type Html, html, raw } from '../components/html.ts'
import { icon } from '../components/icon.ts'
import { type NavSection, navSection } from '../components/main-nav.ts'
import { type Notice, notice } from '../components/notice.ts'
import { type PageUser, userMenu } from '../components/user-menu.ts'
import { type HelpTopic, helpHref } from './help.ts'

type AuthLayoutOptions = {
  /** Makes room for code and tables. */
  isWide?: boolean
  /** The page forwards to this address immediately. */
  refreshTo?: string
  /** It has parts that scripts add to. */
  isScripted?: boolean
}

/** One card in the middle of the page: sign-in, set-up, and all pages for people who are not signed in. */
export const authLayout = (title: string, body: Content, options: AuthLayoutOptions = {}): Html =>
  shell(
    title,
    'auth',
    html`
      <main class=${options.isWide ? 'auth-card auth-wide' : 'auth-card'} id="main" tabindex="-1">${body}</main>
      <footer class="auth-foot">${brand()}</footer>
      ${options.isScripted === true && html`<script src=${assetUrl('app.js')} defer></script>`}
    `,
    options.refreshTo,
  )

/** The documents, which need no account: a bar on top, the contents beside the page, all others below it. */
export const docsLayout = (title: string, aside: Content, body: Content, below?: Content): Html =>
  shell(
    title,
    'docs',
    html`
      <header class="topbar">
        <a class="home" href="/">${brand()}</a>
        <nav class="crumbs" aria-label="Documents"><ol><li><a href="/docs">Documents</a></li></ol></nav>
        <a href="/docs?q=">Search</a>
      </header>
      ${aside}
      <main class="doc" id="main" tabindex="-1">${body}</main>
      ${below}
      <script src=${assetUrl('app.js')} defer></script>
    `,
  )

export type Crumb = { label: string; href: string }

type AppLayoutProps = {
  title: string
  /** What the page belongs to, for the browser tab's title, because many things have a page of this name. */
  of?: string | undefined
  user: PageUser
  nav: readonly NavSection[]
  /** The heading in docs/admin.md that says what this page is for. */
  help: HelpTopic
  /** From the outermost, without the page itself. */
  crumbs?: readonly Crumb[]
  notices?: readonly Notice[]
}

/** The frame of the admin and the account hub: side navigation, a bar on top, the page. */
export const appLayout = (props: AppLayoutProps, body: Content): Html =>
  shell(
    props.of === undefined ? props.title : `${props.title} · ${props.of}`,
    'app',
    html`
      <nav class="sidebar" id="main-nav" popover aria-label="Main">
        <a class="home" href="/">${brand()}</a>
        ${props.nav.map(navSection)}
      </nav>
      <header class="topbar">
        <button type="button" class="btn btn-quiet nav-opener" popovertarget="main-nav">
          ${icon('menu')}<span class="visually-hidden">Menu</span>
        </button>
        ${crumbTrail(props.crumbs ?? [], props.title)}
        <form method="get" action="/commands" role="search" aria-label="Search and commands">
          <button type="submit" class="btn btn-secondary btn-small opener" aria-label="Search and commands">
            Search
          </button>
        </form>
        <a class="help" href=${helpHref(props.help)}>Help</a>
        ${userMenu(props.user)}
      </header>
      <main class="content" id="main" tabindex="-1">
        ${(props.notices ?? []).map((item) => notice({ live: true, isToast: item.tone === 'good', ...item }))}
        ${body}
      </main>
      <script src=${assetUrl('app.js')} defer></script>
    `,
  )

function shell(title: string, className: string, body: Content, refreshTo?: string): Html {
  return html`
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${`${title} · svc`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="same-origin" />
        ${refreshTo !== undefined && html`<meta http-equiv="refresh" content=${`0;url=${refreshTo}`} />`}
        <link rel="icon" type="image/svg+xml" href=${assetUrl('favicon.svg')} />
        <link rel="stylesheet" href=${assetUrl('app.css')} />
      </head>
      <body class=${className}>
        <a class="skip" href="#main">Skip to content</a>
        ${body}
      </body>
    </html>
  `
}

const brand = (): Html => html`<span class="brand">${raw(favicon, 'brand-mark')}svc</span>`

const crumbTrail = (crumbs: readonly Crumb[], current: string): Html => html`
  <nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      ${crumbs.map((crumb) => html`<li><a href=${crumb.href}>${crumb.label}</a></li>`)}
      <li aria-current="page">${current}</li>
    </ol>
  </nav>
`
