import { access } from './german/access.ts'
import { frame } from './german/frame.ts'
import { go } from './german/go.ts'
import { me } from './german/me.ts'
import { rehearsal } from './german/rehearsal.ts'
import { requests } from './german/requests.ts'
import { actions, lists, refusal } from './german/shared.ts'
import { signIn } from './german/sign-in.ts'
import { time } from './german/time.ts'
import type { Words } from './words.ts'

/**
 * The words in German. One word for one thing: request = Antrag, approve = genehmigen, approver = Genehmiger, deny = ablehnen, access and
 * grant = Zugriff, policy = Richtlinie, rule = Regel, target = Ziel, to end = enden or beenden.
 */
export const german: Words = {
  access,
  actions,
  frame,
  go,
  lists,
  me,
  refusal,
  rehearsal,
  requests,
  signIn,
  time,
}
