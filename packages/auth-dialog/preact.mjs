import { h } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Loads the element once; the server of the site has it. */
function load() {
  if (document.querySelector('script[src="/_svc/auth.js"]') !== null) return
  document.head.append(
    Object.assign(document.createElement('script'), { type: 'module', src: '/_svc/auth.js' }),
  )
}

/** Calls `heard` with the person of each event of that name, as long as the component is there. */
function useEvent(name, heard) {
  useEffect(() => {
    const listener = (event) => heard?.(event.detail.user)
    document.addEventListener(name, listener)
    return () => document.removeEventListener(name, listener)
  }, [name, heard])
}

/** The button and its dialog. See README.md for the attributes. */
export function AuthDialog({ label, reload = false, dialogOnly = false, onSignIn, onSignOut }) {
  useEffect(load, [])
  useEvent('svc-signin', onSignIn)
  useEvent('svc-signout', onSignOut)
  return h('svc-auth', {
    label,
    reload: reload ? '' : undefined,
    'dialog-only': dialogOnly ? '' : undefined,
  })
}

/** Who is signed in: undefined until it is known, then a person or null. */
export function useSession() {
  const [user, setUser] = useState(undefined)
  useEffect(() => {
    load()
    let isGone = false
    customElements
      .whenDefined('svc-auth')
      .then(() => window.svc.session())
      .then((found) => isGone || setUser(found))
    return () => {
      isGone = true
    }
  }, [])
  useEffect(() => {
    const signedIn = (event) => setUser(event.detail.user)
    const signedOut = () => setUser(null)
    document.addEventListener('svc-signin', signedIn)
    document.addEventListener('svc-signout', signedOut)
    return () => {
      document.removeEventListener('svc-signin', signedIn)
      document.removeEventListener('svc-signout', signedOut)
    }
  }, [])
  return user
}
