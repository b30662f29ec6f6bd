import { platform } from 'node:os'

/** The program that opens an address on each system. None is a shell, so that the address is only ever an argument. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
const OTHERWISE = ['xdg-open']
/** A browser that it starts may stay in the foreground. */
const WAIT_MS = 3_000

/** Opens an http or https address in the person's browser. False where there is no way to. */
export async function openUrl(url: string): Promise<boolean> {
  try {
    const opener = Bun.spawn([...(OPENERS[platform()] ?? OTHERWISE), new URL(url).href], {
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    opener.unref()
    const code = await Promise.race([opener.exited, Bun.sleep(WAIT_MS).then(() => 0)])
    return code === 0
  } catch {
    return false
  }
}
