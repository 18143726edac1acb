import type { ComponentProps, ReactNode } from 'react'

const shape =
  'inline-flex h-8 touch:h-11 items-center justify-center gap-2 rounded-control px-3 text-body font-medium whitespace-nowrap disabled:cursor-not-allowed aria-disabled:cursor-progress aria-disabled:opacity-70'

const looks = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover disabled:bg-sunken disabled:text-text-2',
  outline:
    'border border-control bg-surface text-text hover:bg-sunken disabled:border-line disabled:bg-surface disabled:text-text-2',
  quiet: 'text-accent hover:bg-sunken hover:text-accent-hover disabled:text-text-2',
  danger: 'bg-bad text-on-bad disabled:bg-sunken disabled:text-text-2',
} as const

export type Look = keyof typeof looks

/** The classes of a button, for links that look like one. */
export const buttonClass = (look: Look): string => `${shape} ${looks[look]}`

type ButtonProps = Omit<ComponentProps<'button'>, 'onClick'> & {
  look?: Look
  /** The act goes on: the button keeps the focus and does nothing more. */
  isPending?: boolean
  onClick?: (() => unknown) | undefined
}

export function Button({
  look = 'outline',
  isPending = false,
  className = '',
  type = 'button',
  onClick,
  ...props
}: ButtonProps): ReactNode {
  return (
    <button
      {...props}
      type={type}
      aria-disabled={isPending || undefined}
      onClick={(event) => {
        if (isPending) return event.preventDefault()
        onClick?.()
      }}
      className={`${buttonClass(look)} ${className}`}
    />
  )
}

type IconButtonProps = ComponentProps<'button'> & {
  /** Its name: it shows an icon alone. */
  label: string
}

export function IconButton({ label, className = '', ...props }: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      {...props}
      aria-label={label}
      className={`inline-flex size-8 shrink-0 items-center justify-center rounded-control text-text-2 touch:size-11 hover:bg-sunken hover:text-text ${className}`}
    />
  )
}
