import { access } from './english/access.ts'
import { frame } from './english/frame.ts'
import { go } from './english/go.ts'
import { me } from './english/me.ts'
import { rehearsal } from './english/rehearsal.ts'
import { requests } from './english/requests.ts'
import { actions, lists, refusal } from './english/shared.ts'
import { signIn } from './english/sign-in.ts'
import { time } from './english/time.ts'

/** The words in English. The other languages have this shape. */
export const english = {
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
