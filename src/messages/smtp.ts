import { createTransport, type SendMailOptions } from 'nodemailer';
import { DeliveryFault } from './outgoing.ts';

export type SmtpTimes = { connectionTimeout: number; greetingTimeout: number; socketTimeout: number; overall: number };

const TIMES: SmtpTimes = {
  connectionTimeout: 15_000,
  greetingTimeout: 15_000,
  socketTimeout: 20_000,
  overall: 60_000,
};

const connect = (url: string, { overall: _, ...times }: SmtpTimes) =>
  createTransport({
    url,
    pool: true,
    maxConnections: 1,
    // Only a connection that the server closed while it was idle; where a byte of the message went out it is a fault.
    maxRequeues: 1,
    idleTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...times,
  });
type Line = ReturnType<typeof connect>;

/** Connects and logs in, sends nothing; throws what the server, or the way to it, has against it. */
export async function tryServer(url: string): Promise<void> {
  const line = connect(url, TIMES);
  try {
    await line.verify();
  } finally {
    line.close();
  }
}

/**
 * Connections to one server, each used by one message at a time and kept for the next. Nodemailer's own pool is
 * not used for all of them together: a delivery that is given up can only be ended by closing the pool that it is in.
 */
export class Smtp {
  readonly #url: string;
  readonly #times: SmtpTimes;
  readonly #idle: Line[] = [];
  #closed = false;

  constructor(url: string, times: Partial<SmtpTimes> = {}) {
    this.#url = url;
    this.#times = { ...TIMES, ...times };
  }

  /** Hands the mail over and gives the server's answer. */
  async send(mail: SendMailOptions, signal: AbortSignal): Promise<string> {
    const line = this.#idle.pop() ?? connect(this.#url, this.#times);
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    const giveUp = (why: string) => {
      line.close({ force: true });
      reject(new DeliveryFault(why, { permanent: false }));
    };
    const timer = setTimeout(() => giveUp('The mail server took too long.'), this.#times.overall);
    const onAbort = () => giveUp('The worker stopped.');
    signal.addEventListener('abort', onAbort);
    try {
      const { response } = await Promise.race([line.sendMail(mail), givenUp]);
      if (this.#closed) line.close();
      else this.#idle.push(line);
      return response;
    } catch (error) {
      line.close({ force: true });
      throw error instanceof DeliveryFault ? error : toFault(error as SmtpError);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  close(): void {
    this.#closed = true;
    for (const line of this.#idle.splice(0)) line.close();
  }
}

type SmtpError = Error & { code?: string; responseCode?: number; response?: string };

// The server has judged this sender, this recipient or this message. Anything else, a refused login above all, is a
// fault of the connection or of the settings, and the message is not to suffer for it.
const JUDGED = ['EENVELOPE', 'EMESSAGE'];

function toFault(error: SmtpError): DeliveryFault {
  const { code = '', responseCode = 0, response } = error;
  const permanent = JUDGED.includes(code) && responseCode >= 500;
  // Nodemailer finds an address that no server could take by itself.
  const unusable = code === 'EENVELOPE' && responseCode === 0;
  const reason = response ? `The mail server said: ${response}` : `The mail server could not be used: ${error.message}`;
  return new DeliveryFault(reason, { permanent: permanent || unusable, cause: error });
}
