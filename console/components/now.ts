import { useEffect, useState } from 'preact/hooks';

const MINUTE_MS = 60_000;

/** The present, to the minute. What is shown by it turns with the clock. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
