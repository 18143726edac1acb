import { access } from './english/access.ts'
import { frame } from './english/frame.ts'
import { go } from './english/go.ts'
import { me } from './english/me.ts'
import { people } from './english/people.ts'
import { rehearsal } from './english/rehearsal.ts'
import { requests } from './english/requests.ts'
import { resources } from './english/resources.ts'
import { rules } from './english/rules.ts'
import { actions, lists, refusal } from './english/shared.ts'
import { signIn } from './english/sign-in.ts'
import { start } from './english/start.ts'
import { time } from './english/time.ts'

/** The words in English. The other languages have this shape. */
export const english = {
  access,
  actions,
  frame,
  go,
  lists,
  me,
  people,
  refusal,
  rehearsal,
  requests,
  resources,
  rules,
  signIn,
  start,
  time,
}
