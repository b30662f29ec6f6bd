import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page, test } from '@playwright/test'
import { type Appliance, startAppliance } from '../../ui/e2e/appliance.ts'
import { signIn } from '../../ui/e2e/journey.ts'
import { GUESTBOOK, type Team } from './team.ts'
import { PAGES_OF_VISITORS, pagesOfMany, pagesOfProject, pagesOfWorkspace, type Shot } from './typical.ts'
import { ADMIN_ORIGIN, BASE_DOMAIN, SHOTS_ENV } from './world.ts'

const OUT = process.env['SHOTS_OUT'] ?? 'shots'
const DATA_DIR = process.env['SHOTS_DATA'] ?? ''
/** Names of pages; all of them without. */
const ONLY = (process.env['SHOTS_ONLY'] ?? '').split(',').filter((name) => name !== '')
const SIZES = { phone: [390, 844], laptop: [1440, 900], wide: [1920, 1080] } as const
const THEMES = ['light', 'dark'] as const

const typical = (team: Team): Shot[] => [...pagesOfProject(team), ...pagesOfWorkspace(team)]

const wrong = (team: Team): Shot[] => [
  ['not-found', '/no-such-page'],
  ['filter', `/projects/${team.project}/data/${team.visits}?filter[nights]=many`],
  ['logs', '/admin/logs?status=nine'],
]

/** The server cannot read what it stored: its answer is the one for every failure inside. */
const failing = (team: Team): Shot[] => [
  ['inside', `/projects/${team.project}/deployments/${team.older}/files?path=index.html`],
]

const empty = (project: string): Shot[] => [
  ['home', '/'],
  ...['', '/deployments', '/aliases', '/rules', '/data', '/domains', '/analytics', '/secrets'].map(
    (page): Shot => [`project${page.replace('/', '-')}`, `/projects/${project}${page}`],
  ),
  ...['groups', 'backups', 'logs'].map((page): Shot => [`admin-${page}`, `/admin/${page}`]),
]

test('a team at work', async () => {
  const team = JSON.parse(readFileSync(join(DATA_DIR, 'team.json'), 'utf8')) as Team
  await withAppliance({ DATA_DIR }, async (_, page) => {
    await shoot(page, 'typical', typical(team))
    await shootSteps(page, team)
    await shoot(page, 'thousand', pagesOfMany(team))
    await shoot(page, 'error', wrong(team))
    if (isWanted('inside')) await withoutContents(() => shootFailure(page, team))
    await forReadme(page, team)
    await page.context().clearCookies()
    await shoot(page, 'visitor', PAGES_OF_VISITORS)
  })
})

test('nothing yet', async () => {
  await withAppliance({}, async (appliance, page) => {
    await shoot(page, 'empty', [['home', '/']])
    const made = await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name: 'website' })
    await shoot(page, 'empty', empty((await made.json()).id).slice(1))
  })
})

async function shoot(page: Page, state: string, shots: readonly Shot[]): Promise<void> {
  for (const [name, path] of shots.filter(([name]) => isWanted(name))) {
    // On the phone first: the row of tabs is put in place as the page opens.
    await look(page, ...SIZES.phone, 'light')
    await page.goto(`${ADMIN_ORIGIN}${path}`)
    await keepAll(page, `${state}-${name}`, true)
  }
}

const isWanted = (name: string): boolean => ONLY.length === 0 || ONLY.includes(name)

async function keepAll(page: Page, name: string, fullPage: boolean): Promise<void> {
  if (fullPage) await seeAll(page)
  for (const [size, [width, height]] of Object.entries(SIZES))
    for (const theme of THEMES) {
      await look(page, width, height, theme)
      await page.screenshot({ path: join(OUT, `${name}-${size}-${theme}.png`), fullPage })
    }
}

async function shootFailure(page: Page, team: Team): Promise<void> {
  await shoot(page, 'error', failing(team))
  await page.getByRole('heading', { name: 'The server failed' }).waitFor()
}

/** Frames and images further down load when somebody comes near. */
async function seeAll(page: Page): Promise<void> {
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => scrollTo(0, 0))
}

/** What opens on a page by what one does there. */
async function shootSteps(page: Page, team: Team): Promise<void> {
  await look(page, ...SIZES.phone, 'light')
  if (isWanted('ready-to-publish')) {
    await page.goto(`${ADMIN_ORIGIN}/projects/${team.project}/publish`)
    await page.getByLabel('Choose a folder').setInputFiles(GUESTBOOK)
    await page.getByRole('region', { name: 'Ready to publish' }).waitFor()
    await keepAll(page, 'typical-ready-to-publish', true)
  }
  if (isWanted('palette')) {
    await page.goto(`${ADMIN_ORIGIN}/`)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find a page, a project or a command' }).fill('guest')
    await page.getByRole('option').first().waitFor()
    await keepAll(page, 'typical-palette', false)
  }
}

async function look(page: Page, width: number, height: number, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
}

/** Four pictures of one size: an overview, what a deployment changes, why a rule answers, and a site that knows its visitors. */
async function forReadme(page: Page, team: Team): Promise<void> {
  const keep = async (name: string) => {
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: join(OUT, `readme-${name}.png`) })
  }
  await look(page, 1280, 800, 'light')
  await page.goto(`${ADMIN_ORIGIN}/projects/${team.project}`)
  await keep('overview')
  await page.goto(`${ADMIN_ORIGIN}/projects/${team.project}/compare?from=3&to=4`)
  await keep('deployment')
  await look(page, 1280, 800, 'dark')
  await page.goto(`${ADMIN_ORIGIN}/projects/${team.project}/rules/test`)
  await page.getByLabel('Path').fill('/api/weather')
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByRole('heading', { name: 'Request', exact: true }).waitFor()
  await keep('trace')
  await look(page, 1280, 800, 'light')
  await page.context().clearCookies()
  await page.goto(`http://production--guestbook--acme.${BASE_DOMAIN}/`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('dialog').waitFor()
  await keep('sign-in')
}

/** As if the disk had lost the contents while the server runs. They stay the same files: the server has them open. */
async function withoutContents(work: () => Promise<void>): Promise<void> {
  const packs = join(DATA_DIR, 'blobs/packs')
  const kept = readdirSync(packs).map((name) => ({
    path: join(packs, name),
    bytes: readFileSync(join(packs, name)),
  }))
  for (const { path } of kept) truncateSync(path)
  await work()
  for (const { path, bytes } of kept) writeFileSync(path, bytes)
}

async function withAppliance(
  env: Record<string, string>,
  work: (appliance: Appliance, page: Page) => Promise<void>,
): Promise<void> {
  const appliance = await startAppliance({ ...SHOTS_ENV, ...env })
  const { browser, context } = await openBrowser(appliance.port)
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  await page.goto(ADMIN_ORIGIN)
  await signIn(page)
  await work(appliance, page)
  await browser.close()
  await appliance.stop()
}

/** Names of the server lead to its port on this machine. */
async function openBrowser(port: number): Promise<{ browser: Browser; context: BrowserContext }> {
  const options = test.info().project.use.launchOptions ?? {}
  const names = `--host-resolver-rules=MAP *.${BASE_DOMAIN}:80 127.0.0.1:${port}`
  const browser = await chromium.launch({ ...options, args: [...(options.args ?? []), names] })
  return { browser, context: await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' }) }
}
