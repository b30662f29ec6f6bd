import type { Commands } from './cli/command.ts'
import { allHelp, helpCommand } from './cli/help.ts'
import { processIo } from './cli/io.ts'
import { runCommand } from './cli/run-command.ts'
import { provideCommandHelp } from './modules/docs/command-help.ts'
import { SANDBOX_ARGUMENT } from './pipelines/sandbox/protocol.ts'

const commands: Commands = {
  serve: async () => (await import('./cli/serve.ts')).serveCommand,
  install: async () => (await import('./cli/install.ts')).installCommand,
  uninstall: async () => (await import('./cli/uninstall.ts')).uninstallCommand,
  deploy: async () => (await import('./cli/deploy.ts')).deployCommand,
  list: async () => (await import('./cli/list.ts')).listCommand,
  compare: async () => (await import('./cli/compare.ts')).compareCommand,
  rollback: async () => (await import('./cli/rollback.ts')).rollbackCommand,
  alias: async () => (await import('./cli/alias.ts')).aliasCommand,
  preview: async () => (await import('./cli/preview.ts')).previewCommand,
  open: async () => (await import('./cli/open.ts')).openCommand,
  login: async () => (await import('./cli/login.ts')).loginCommand,
  logout: async () => (await import('./cli/logout.ts')).logoutCommand,
  dev: async () => (await import('./cli/dev.ts')).devCommand,
  rules: async () => (await import('./cli/rules.ts')).rulesCommand,
  admin: async () => (await import('./cli/admin.ts')).adminCommand,
  backup: async () => (await import('./cli/backup.ts')).backupCommand,
  restore: async () => (await import('./cli/restore.ts')).restoreCommand,
  check: async () => (await import('./cli/check.ts')).checkCommand,
  store: async () => (await import('./cli/store.ts')).storeCommand,
  key: async () => (await import('./cli/key.ts')).keyCommand,
  import: async () => (await import('./cli/import.ts')).importCommand,
  explain: async () => (await import('./cli/explain.ts')).explainCommand,
  docs: async () => (await import('./cli/docs.ts')).docsCommand,
  health: async () => (await import('./cli/health.ts')).healthCommand,
  version: async () => (await import('./cli/version.ts')).versionCommand,
  help: () => helpCommand(() => commands),
}

provideCommandHelp(() => allHelp(commands))
if (process.argv[2] === SANDBOX_ARGUMENT)
  await (await import('./pipelines/sandbox/process.ts')).runSandboxProcess()
process.exit(await runCommand(commands, process.argv.slice(2), processIo(process.env), 'serve'))
