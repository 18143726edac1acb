import { type ReactNode, useEffect, useRef, useState } from 'react'
import { WithoutPreferences } from '../app/without-preferences.tsx'
import { followSignOut } from '../live/live.ts'
import { followPerson } from '../live/person.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { clearDrafts } from '../parts/draft.ts'
import { Modal } from '../parts/modal.tsx'
import { useTitle } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { useWords } from '../words/words.ts'
import { LeaveStandIn } from './leave-stand-in.tsx'
import { isOpenedHere } from './opened-here.ts'
import { standIn } from './stand-in.ts'
import { beginStandIn } from './stand-in-calls.ts'

/** Has this window act as a colleague before it shows anything, and ends that with the session of the owner. */
export function StandInGate({ children }: { children: ReactNode }): ReactNode {
  const [owner_id, setOwner] = useState<string>()
  useEffect(() => {
    if (owner_id === undefined) return
    const ends = [followPerson(owner_id, leave), followSignOut(owner_id, leave)]
    return () => {
      for (const end of ends) end()
    }
  }, [owner_id])
  if (owner_id !== undefined) return children
  return (
    <WithoutPreferences>
      <BeginPage onBegun={setOwner} />
    </WithoutPreferences>
  )
}

function BeginPage(props: BeginProps): ReactNode {
  const words = useWords()
  useTitle(words.rehearsal.standIn)
  const [atOnce] = useState(() => isOpenedHere(requireStandIn()))
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="grid w-full max-w-[480px] gap-4">
        <p className="font-semibold text-accent">{words.frame.product}</p>
        <h1 className="text-title font-semibold">{words.rehearsal.standIn}</h1>
        <p className="text-text-2">{words.rehearsal.standInText}</p>
        <Begin {...props} atOnce={atOnce} />
      </div>
    </main>
  )
}

/** In place of the sign-in, when the 15 minutes are over. */
export function StandInAgain({ onSignedIn }: { onSignedIn: () => void }): ReactNode {
  const words = useWords()
  return (
    <Modal title={words.rehearsal.standInOver}>
      <p>{words.rehearsal.standInOverText}</p>
      <Begin onBegun={onSignedIn} />
      <LeaveStandIn />
    </Modal>
  )
}

type BeginProps = { onBegun: (owner_id: string) => void; atOnce?: boolean }

function Begin({ onBegun, atOnce = false }: BeginProps): ReactNode {
  const words = useWords()
  const act = useAct()
  const begin = () => act.run(async () => onBegun(await beginStandIn(requireStandIn())))
  const hasBegun = useRef(false)
  useEffect(() => {
    if (!atOnce || hasBegun.current) return
    hasBegun.current = true
    // What is refused stands in the page.
    begin().catch(() => undefined)
  })
  return (
    <>
      {act.error !== undefined && (
        <>
          <Problem error={act.error} />
          <p className="text-text-2">{words.rehearsal.standInHelp}</p>
        </>
      )}
      <div>
        <Button look="primary" isPending={act.isPending} onClick={begin}>
          {words.rehearsal.goOn}
        </Button>
      </div>
    </>
  )
}

function requireStandIn(): string {
  if (standIn === undefined) throw new Error('this window acts as nobody else')
  return standIn
}

/** The owner signed out, or another person signed in: nothing of the colleague remains in this window. */
function leave(): void {
  clearDrafts()
  location.reload()
}
