import type { Page } from '@playwright/test'

/** Drops files and folders of this machine on the drop zone, as a hand with a mouse does. */
export async function drop(page: Page, ...paths: string[]): Promise<void> {
  await page.locator('.dropzone').scrollIntoViewIfNeeded()
  const box = await page.locator('.dropzone').boundingBox()
  if (box === null) throw new Error('there is no drop zone')
  const session = await page.context().newCDPSession(page)
  const at = { x: box.x + box.width / 2, y: box.y + 20 }
  const data = { items: [], files: paths, dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...at, data })
  await session.detach()
}
