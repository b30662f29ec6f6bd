import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What npm needs of a registry, for the archives of one folder: packuments and tarballs. Everything else is 404. */
export type NpmRegistry = {
  url: string
  /** The paths that were asked for. */
  asked: string[]
  stop(): Promise<void>
}

type Packed = { name: string; file: string; manifest: Record<string, unknown>; bytes: Buffer<ArrayBuffer> }

export function startNpmRegistry(folder: string): NpmRegistry {
  const packages = readdirSync(folder).map((file) => packed(join(folder, file), file))
  const asked: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      const { pathname, origin } = new URL(url)
      const path = decodeURIComponent(pathname.slice(1))
      asked.push(path)
      const tarball = packages.find(({ file }) => path === `tarballs/${file}`)
      if (tarball !== undefined) return new Response(tarball.bytes)
      const found = packages.find(({ name }) => name === path)
      return found === undefined
        ? Response.json({ error: 'Not found' }, { status: 404 })
        : Response.json(packument(found, origin))
    },
  })
  return { url: `http://127.0.0.1:${server.port}/`, asked, stop: () => server.stop(true) }
}

function packed(path: string, file: string): Packed {
  const { stdout } = Bun.spawnSync(['tar', '-xzOf', path, '--occurrence=1', 'package/package.json'])
  const manifest: Record<string, unknown> = JSON.parse(stdout.toString())
  return { name: String(manifest['name']), file, manifest, bytes: Buffer.from(readFileSync(path)) }
}

function packument({ name, file, manifest, bytes }: Packed, origin: string): Record<string, unknown> {
  const version = String(manifest['version'])
  const dist = {
    tarball: `${origin}/tarballs/${file}`,
    integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
  }
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
}
