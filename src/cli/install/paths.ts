/** What is where, below the root of the machine. contract 19.3. */
export const HOME = '/var/lib/svc'
export const EXECUTABLE = '/usr/local/bin/svc'
export const ENV_FILE = '/etc/svc.env'
export const UNIT = 'svc.service'
export const UNIT_FILE = `/etc/systemd/system/${UNIT}`
export const USER = 'svc'

export const isBelow = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? folder : `${folder}/`)
