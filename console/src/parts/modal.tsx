import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'

type ModalProps = {
  title: string
  role?: 'dialog' | 'alertdialog'
  /** Left out where the person cannot leave it. */
  close?: () => void
  children: ReactNode
}

/** A dialog of the browser over the page: it keeps the focus inside, and gives it back when it closes. */
export function Modal({ title, role = 'dialog', close, children }: ModalProps): ReactNode {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the element leaves the page: then the browser gives the focus back.
  useLayoutEffect(() => {
    const dialog = element.current
    if (dialog === null || dialog.open) return
    dialog.showModal()
    return () => {
      dialog.close()
      requestAnimationFrame(focusSomewhere)
    }
  }, [])
  return (
    <dialog
      ref={element}
      role={role}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        close?.()
      }}
      className="m-auto w-[min(480px,calc(100vw-32px))] rounded-card bg-surface p-6 text-text shadow-over backdrop:bg-black/40"
    >
      <div className="grid gap-4">
        <h2 id={id} className="text-title font-semibold">
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  )
}

/** What opened the dialog may be gone, with the thing that it ended. */
function focusSomewhere(): void {
  if (document.activeElement === null || document.activeElement === document.body)
    document.querySelector<HTMLElement>('h1')?.focus()
}
