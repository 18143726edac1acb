import type { Mode } from '../tenants/mode.ts'

/** What a mail of a tenant in rehearsal says at its end. */
export function rehearsalNote(mode: Mode): string {
  return mode === 'rehearsal' ? ' This is a rehearsal: the access is simulated.' : ''
}
