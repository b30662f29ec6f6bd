import type { Locator, Page } from '@playwright/test'
import { type Appliance, expect, openAsAdmin, scripted, test, WITH_ADMIN } from './journey.ts'
import { createWebsite, pageOf } from './publish-website.ts'

/** What each page is for is in sight, on a desk and on a phone. contract 17.12. */

test.use({ env: WITH_ADMIN })

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

const WIDE = { width: 1920, height: 1080 }

type Row = [path: string, heading: string, ...actions: [role: 'link' | 'button' | 'label', name: string][]]

const rowsOf = (project: string, alias: string): Row[] => [
  ['/?view=cards', 'Projects', ['link', 'New project']],
  ['/?view=list', 'Projects', ['link', 'New project']],
  [
    `/projects/${project}`,
    'website',
    ['link', 'Publish'],
    ['link', 'Open the site'],
    ['button', 'Copy address'],
    ['button', 'Roll back production'],
  ],
  [`/projects/${project}/publish`, 'Publish', ['label', 'Choose a folder']],
  [`/projects/${project}/deployments`, 'Deployments', ['link', 'Publish']],
  [`/projects/${project}/deployments/1`, '#1 First', ['button', 'Roll back to #1']],
  [`/projects/${project}/deployments/2`, '#2 Second', ['link', 'Open #2']],
  [`/projects/${project}/deployments/3`, '#3 Third', ['button', 'Promote #3']],
  [`/projects/${project}/aliases`, 'Aliases', ['link', 'New alias']],
  [`/projects/${project}/aliases/${alias}`, 'production', ['link', 'Roll back to #1']],
  [`/projects/${project}/domains`, 'Domains', ['link', 'Add a domain']],
  [`/projects/${project}/rules`, 'Rules', ['link', 'New rule']],
  [`/projects/${project}/people`, 'People', ['link', 'Invite somebody']],
  ['/admin/users', 'Users', ['link', 'New user']],
  ['/keys', 'API keys', ['link', 'New key']],
  ['/admin/backups', 'Backups', ['button', 'Make a backup and download it']],
]

async function fill(appliance: Appliance): Promise<Row[]> {
  const { id, upload } = await createWebsite(appliance)
  for (const [at, description] of ['First', 'Second', 'Third'].entries())
    await upload(
      { 'index.html': pageOf(description) },
      { commitSha: `${at}`.repeat(12), description, ...(at < 2 ? { alias: 'production' } : {}) },
    )
  const aliases = await (await appliance.asAdmin('GET', `/api/aliases?projectId=${id}`)).json()
  return rowsOf(id, aliases.data[0].id)
}

const locate = (page: Page, role: Row[2][0], name: string): Locator =>
  role === 'label'
    ? page.locator('label').filter({ hasText: name })
    : page.getByRole(role, { name, exact: true }).first()

/** Wholly in the window, and nothing lies on it. */
const isInSight = (found: Locator): Promise<boolean> =>
  found.evaluate((element) => {
    const { top, left, bottom, right } = element.getBoundingClientRect()
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
    const isInside = top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth
    return isInside && hit !== null && element.contains(hit)
  })

/** Characters in the longest line of running text. */
const longestLine = (page: Page): Promise<number> =>
  page.locator('main').evaluate((main) => {
    const lineLengths = (block: Element): number[] => {
      const lines = new Map<number, number>()
      const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
      for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
        for (const { index, 0: word } of (node.textContent ?? '').matchAll(/\S+\s*/g)) {
          const range = document.createRange()
          range.setStart(node, index)
          range.setEnd(node, index + word.trimEnd().length)
          const line = Math.round(range.getBoundingClientRect().bottom / 8)
          lines.set(line, (lines.get(line) ?? 0) + word.length)
        }
      return [...lines.values()]
    }
    const blocks = [
      ...main.querySelectorAll('p:not(.ends, .facts), .hint, .notice-text, dd, li:not(:has(p, div, ul))'),
    ]
    const shown = blocks.filter((block) => block.checkVisibility() && (block.textContent ?? '').length > 90)
    return Math.max(0, ...shown.flatMap(lineLengths))
  })

test('the main action of each page is in sight without scrolling, and no line is too long', async ({
  page,
  appliance,
}) => {
  const rows = await fill(appliance)
  await openAsAdmin(page, appliance, '/')
  await scripted(page)
  const hidden: string[] = []
  const long: string[] = []
  for (const [path, heading, ...actions] of rows) {
    await page.goto(appliance.url + path)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading)
    for (const size of SIZES) {
      await page.setViewportSize(size)
      for (const [role, name] of actions) {
        const found = locate(page, role, name)
        const isSeen = (await found.count()) > 0 && (await isInSight(found))
        if (!isSeen) hidden.push(`${path} ${name} at ${size.width}`)
      }
    }
    await page.setViewportSize(WIDE)
    const length = await longestLine(page)
    if (length > 90) long.push(`${path}: ${length}`)
  }
  expect([hidden, long]).toEqual([[], []])

  await page.goto(`${appliance.url}${rows[2]?.[0]}`)
  const topOf = async (name: string) => (await page.getByRole('region', { name }).boundingBox())?.y
  expect(await topOf('Latest deployments')).toBe(await topOf('Live'))
  await page.setViewportSize({ width: 1440, height: 900 })
  expect(await topOf('Latest deployments')).toBeGreaterThan((await topOf('Live')) ?? 0)
})
