import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card, Section, useTitle } from '../parts/page.tsx'
import { SignInAgain } from '../sign-in/sign-in-again.tsx'
import { useWords } from '../words/words.ts'
import { AddFactor } from './add-factor.tsx'
import { factorsQuery } from './queries.ts'
import { RecoveryCodes } from './recovery-codes.tsx'
import { SignOut } from './sign-out.tsx'

/** The whole window, for a person whose roles need a second factor that their sign-in lacks: they set one up, then sign in with it. */
export function SecondFactorNeeded({ onSignedIn }: { onSignedIn: () => unknown }): ReactNode {
  const { frame, me } = useWords()
  const words = me.needed
  useTitle(words.title)
  return (
    <main className="grid min-h-dvh content-start justify-items-center p-4 md:pt-12">
      <div className="grid w-full max-w-[560px] gap-6">
        <header className="flex flex-wrap items-start justify-between gap-3">
          <div className="grid gap-1">
            <p className="text-body font-semibold text-accent">{frame.product}</p>
            <h1 className="text-title font-semibold">{words.title}</h1>
          </div>
          <SignOut />
        </header>
        <p className="sound-width text-sentence">{words.why}</p>
        <Section title={me.factors.title}>
          <Card className="grid gap-4">
            <SetUp onSignedIn={onSignedIn} />
          </Card>
        </Section>
      </div>
    </main>
  )
}

function SetUp({ onSignedIn }: { onSignedIn: () => unknown }): ReactNode {
  const { me } = useWords()
  const words = me.needed
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(factorsQuery)
  const [codes, setCodes] = useState<readonly string[]>()
  const [isOpen, setOpen] = useState(false)
  if (data === undefined) return error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />
  if (data.data.length === 0 && codes === undefined)
    return (
      <AddFactor
        onAdded={async (added) => {
          setCodes(added.codes)
          await queries.invalidateQueries({ queryKey: factorsQuery.queryKey })
        }}
      />
    )
  return (
    <>
      <p>{codes === undefined ? words.has : words.ready}</p>
      {codes !== undefined && <RecoveryCodes codes={codes} />}
      <div>
        <Button look={codes === undefined ? 'primary' : 'outline'} onClick={() => setOpen(true)}>
          {me.signInAgain}
        </Button>
      </div>
      {isOpen && <SignInAgain because={words.has} close={() => setOpen(false)} onSignedIn={onSignedIn} />}
    </>
  )
}
