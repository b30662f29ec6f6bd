import { expect, type Locator, type Page } from '@playwright/test'

/**
 * Clicks a form's button a second time before the browser has seen the first response, however fast the server is. The
 * server gets both requests. The browser cancels the first one and shows the response to the second.
 */
export async function clickTwice(page: Page, button: Locator): Promise<void> {
  let answered = 0
  let release = (): void => {}
  const bothCame = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**', async (route) => {
    if (route.request().method() !== 'POST' || answered === 2) return route.fallback()
    const response = await route.fetch({ maxRedirects: 0 })
    answered += 1
    if (answered === 2) release()
    await bothCame
    await route.fulfill({ response }).catch(() => undefined)
  })
  await button.scrollIntoViewIfNeeded()
  const { x, y } = (await button.boundingBox()) ?? { x: 0, y: 0 }
  for (const clicks of [1, 2]) {
    await page.mouse.click(x + 5, y + 5)
    await expect.poll(() => answered).toBe(clicks)
  }
}
