/** Loaded before a server: its answers do not wait for the object store. */
Bun.plugin({
  name: 'without the gate',
  setup(build) {
    build.onLoad({ filter: /\/server\/store\/gate\.ts$/ }, () => ({
      contents: 'export const behindGate = (_ctx, answer) => answer',
      loader: 'ts',
    }))
  },
})
