import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ReleaseConfig, readReleaseConfig } from '../config.ts'
import { publicKeyOf } from '../key.ts'
import { executableName, PLATFORMS, type Release } from '../release.ts'

const root = join(import.meta.dir, '../../..')

export const CONFIG: ReleaseConfig = readReleaseConfig(root)

/** Names that stand nowhere else, so that a name which somebody wrote down is found. */
export const OTHER_NAMES: ReleaseConfig = {
  npm: { package: 'heron', scope: '@kingfisher' },
  actions: { upload: 'egret/put', rules: 'egret/rule' },
  image: 'registry.bittern.example/heron',
  deb: 'grebe',
  index: 'https://bittern.example/list/index.json',
  publicKey: null,
}

export type SampleRelease = Release & { remove(): void }

/** A release whose executables are a script, or what `executable` is, and which nobody has built. */
export function sampleRelease(options: Partial<Release> = {}, executable = '#!/bin/sh\n'): SampleRelease {
  const out = mkdtempSync(join(tmpdir(), 'svc-release-'))
  const key = options.key ?? generateKeyPairSync('ed25519').privateKey
  const release: Release = {
    version: '1.2.3',
    commit: null,
    publishedAt: '2026-01-02T03:04:05.678Z',
    notes: '',
    platforms: PLATFORMS,
    config: OTHER_NAMES,
    key,
    publicKey: publicKeyOf(key),
    root,
    out,
    ...options,
  }
  for (const platform of release.platforms)
    writeFileSync(join(out, executableName(platform)), executable, { mode: 0o755 })
  return { ...release, remove: () => rmSync(out, { recursive: true, force: true }) }
}
