/** Grey lines where text will be; `lines` keeps the height, so that nothing moves. */
export const Skeleton = ({ lines = 3 }: { lines?: number }) => (
  <div className="skeleton" aria-hidden="true">
    {Array.from({ length: lines }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
      <span key={index} />
    ))}
  </div>
)

export const PageSkeleton = () => (
  <div role="status" aria-label="Loading">
    <Skeleton lines={8} />
  </div>
)
