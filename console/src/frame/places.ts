import { BookUser, Cloud, Inbox, KeyRound, ListChecks, type LucideIcon, UserRound } from 'lucide-react'
import { mayApprove, maySeeConnections, maySeeDirectories, maySetUp, useMe } from '../me/me.ts'
import { standIn } from '../rehearsal/stand-in.ts'
import { useWords } from '../words/words.ts'

export type Place = { to: '/' | '/inbox' | '/start' | '/aws' | '/directories' | '/me'; icon: LucideIcon; name: string }

/** The pages that the person may use, in the order of the navigation. */
export function usePlaces(): Place[] {
  const words = useWords().frame
  const me = useMe()
  const places: (Place | false)[] = [
    { to: '/', icon: KeyRound, name: words.access },
    mayApprove(me) && { to: '/inbox', icon: Inbox, name: words.inbox },
    maySetUp(me) && { to: '/start', icon: ListChecks, name: words.setUp },
    maySeeConnections(me) && { to: '/aws', icon: Cloud, name: words.aws },
    maySeeDirectories(me) && { to: '/directories', icon: BookUser, name: words.directories },
    standIn === undefined && { to: '/me', icon: UserRound, name: words.you },
  ]
  return places.filter((place) => place !== false)
}
