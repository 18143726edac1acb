import type { ReactNode } from 'react'
import { useWords } from '../words/words.ts'
import { useAct } from './act.ts'
import { Button } from './button.tsx'
import { Modal } from './modal.tsx'
import { Problem } from './problem.tsx'

type ConfirmProps = {
  /** A question. */
  title: string
  /** What follows from it, with names and counts. */
  consequences: string
  /** What it is about, where the consequences do not name it. */
  children?: ReactNode
  /** Verb and noun. */
  act: string
  close: () => void
  /** Closes the dialog when it succeeds; a failure stays in it. */
  run: () => Promise<unknown>
}

/** Asks before what cannot be undone. The focus is on Cancel. */
export function Confirm({ title, consequences, children, act: label, close, run }: ConfirmProps): ReactNode {
  const words = useWords()
  const act = useAct()
  const go = async () => {
    if (await act.run(run)) close()
  }
  return (
    <Modal title={title} role="alertdialog" close={close}>
      <p>{consequences}</p>
      {children}
      {act.error !== undefined && <Problem error={act.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button autoFocus onClick={close}>
          {words.actions.keep}
        </Button>
        <Button look="danger" isPending={act.isPending} onClick={go}>
          {label}
        </Button>
      </div>
    </Modal>
  )
}
