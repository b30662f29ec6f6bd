import { expect, signIn, surprisesOf, test, WITH_ADMIN } from './journey.ts'

test.use({ env: WITH_ADMIN })

// Every journey fails on what `surprisesOf` collects. This test checks that it really collects it.
test('a foreign script, style and picture are blocked and collected', async ({ browser, appliance }) => {
  const context = await browser.newContext()
  const surprises = surprisesOf(context, appliance.port)
  const page = await context.newPage()
  await page.goto(appliance.url)
  await signIn(page)
  await expect(page.getByRole('heading', { name: 'Projects' })).toBeVisible()
  expect(surprises).toEqual([])
  await page.evaluate(() => {
    const add = (tag: string, set: (element: HTMLElement) => void) => {
      const element = document.createElement(tag)
      set(element)
      document.body.append(element)
    }
    add('script', (script) => {
      script.textContent = 'window.ranInline = true'
    })
    add('style', (style) => {
      style.textContent = 'body { color: red }'
    })
    add('img', (img) => img.setAttribute('src', 'http://elsewhere.invalid/a.png'))
  })
  for (const directive of ['script-src', 'style-src', 'img-src'])
    await expect.poll(() => surprises.filter((said) => said.includes(directive)).length).toBeGreaterThan(0)
  expect(await page.evaluate(() => 'ranInline' in window)).toBe(false)
  await context.close()
})
