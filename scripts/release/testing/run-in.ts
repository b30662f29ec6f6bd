export type Ended = { code: number | null; stdout: string; stderr: string }

/** Runs a command in a folder to its end, with these variables alone. */
export async function runIn(
  folder: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Ended> {
  const child = Bun.spawn([...argv], { cwd: folder, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}
