import type { VNode } from 'preact'

export type User = { id: string; email: string; role: 'admin' | 'user' | 'member' }

export type AuthDialogProps = {
  label?: string
  reload?: boolean
  dialogOnly?: boolean
  onSignIn?: (user: User) => void
  onSignOut?: (user: User | null) => void
}

export function AuthDialog(props: AuthDialogProps): VNode

export function useSession(): User | null | undefined
