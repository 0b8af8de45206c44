/** What the model saw: the very conversation it was sent, its pictures, and how its answer was drawn. */
import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { ChatMessage, Prompt, Proposal, WeightSpan } from "@/generated/vocabulary";
import { blobUrlOf } from "@/shared/api/episodes";
import { dollars } from "@/shared/i18n/dollars";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, PolicyBadge } from "@/shared/ui/badge";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import type { BlobUrl } from "@/shared/ui/episode/thumbnail";

import { promptQuery } from "./api";
import { initiallyOpen, picturesOf, questionsOf, textOf, type Question } from "./prompt";
import styles from "./prompt.module.css";

export function PromptView({ episodeId, proposals }: { episodeId: string; proposals: readonly Proposal[] }) {
  const { t, moment } = useI18n();
  const questions = questionsOf(proposals);
  const [chosen, setChosen] = useState<string | null>(null);
  const question = questions.find(({ sha256 }) => sha256 === chosen) ?? questions[0];
  if (question === undefined) return <Empty title={t("prompt.none")}>{t("prompt.none.help")}</Empty>;
  return (
    <>
      {questions.length > 1 && (
        <NativeSelect
          label={t("prompt.which")}
          value={question.sha256}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={questions.map(({ sha256, answers }) => ({
            value: sha256,
            label: `${answers[0]?.policy.name ?? ""} ${answers[0]?.policy.revision ?? ""} · ${answers[0] ? moment(answers[0].created_at) : ""}`,
          }))}
        />
      )}
      <PromptDetails key={question.sha256} episodeId={episodeId} question={question} />
    </>
  );
}

function PromptDetails({ episodeId, question }: { episodeId: string; question: Question }) {
  const { t } = useI18n();
  const { data, error, refetch } = useQuery(promptQuery(episodeId, question.sha256));
  const blobUrl = blobUrlOf(episodeId);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return (
    <div className={styles.prompt}>
      <Facts prompt={data} answers={question.answers} />
      <p className={styles.raw}>
        <a href={blobUrl(question.sha256)} target="_blank" rel="noreferrer">{t("prompt.raw")}</a>
      </p>
      <Messages prompt={data} blobUrl={blobUrl} />
    </div>
  );
}

/** Tokens of an answer and of its other replies: the workspace gets their number, a trajectory the tokens. */
function countWrittenTokens({ tokens_written: count, completion_token_ids: ids, others }: Proposal): number {
  return count ?? others.reduce((sum, { token_ids: more }) => sum + more.length, ids?.length ?? 0);
}

/** Which model, how long the prompt was to it, and how it answered. */
function Facts({ prompt, answers }: { prompt: Prompt; answers: readonly Proposal[] }) {
  const { t, language, duration } = useI18n();
  const [first] = answers;
  const count = (value: number) => new Intl.NumberFormat(language).format(value);
  const { min_pixels: least, max_pixels: most } = prompt.image_limits;
  const pictures = prompt.messages.reduce((sum, message) => sum + picturesOf(message), 0);
  const read = first?.tokens_read ?? first?.prompt_token_ids?.length ?? null;
  const written = answers.reduce((sum, answer) => sum + countWrittenTokens(answer), 0);
  const describeWeights = ({ version, tokens }: WeightSpan, _: number, spans: readonly WeightSpan[]) =>
    spans.length > 1 && tokens !== null ? t("prompt.weights.drew", { version, count: tokens }) : version;
  const replyFacts = (answer: Proposal) =>
    [
      [t("prompt.sampling"), samplingOf(answer)],
      [t("prompt.weights"), answer.weight_versions.map(describeWeights).join(" → ")],
      [t("prompt.latency"), duration(answer.latency_ms)],
      [t("prompt.cost"), answer.cost_usd === null ? "" : dollars(answer.cost_usd, language)],
    ] as const;
  const facts: (readonly [string, React.ReactNode])[] = [
    [t("prompt.policy"), <PolicyBadge key="policy" policy={prompt.policy} />],
    [t("prompt.model"), `${prompt.model} · ${prompt.policy.dialect}`],
    [t("prompt.turns"), count(prompt.messages.length)],
    [t("prompt.pictures"), count(pictures)],
    [t("prompt.tokens"), read === null ? t("prompt.unknown") : count(read)],
    [t("prompt.written"), written > 0 ? count(written) : t("prompt.unknown")],
    [t("prompt.limits"), t("prompt.limits.value", { least: count(least), most: count(most) })],
    ...(first ? replyFacts(first) : []),
  ];
  return (
    <dl className={styles.facts}>
      {facts.filter(([, value]) => value !== "").map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The settings as the server was given them. */
function samplingOf({ sampling }: Proposal): string {
  const given = Object.entries(sampling).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0));
  return given.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(", ");
}

function Messages({ prompt, blobUrl }: { prompt: Prompt; blobUrl: BlobUrl }) {
  const { t } = useI18n();
  const [open, setOpen] = useState(() => initiallyOpen(prompt));
  const all = open.size === prompt.messages.length;
  const toggle = (index: number) => {
    const next = new Set(open);
    if (!next.delete(index)) next.add(index);
    setOpen(next);
  };
  return (
    <section aria-label={t("prompt.conversation")}>
      <button
        type="button"
        className={styles.all}
        onClick={() => setOpen(all ? initiallyOpen(prompt) : new Set(prompt.messages.keys()))}
      >
        {t(all ? "prompt.fewer" : "prompt.all")}
      </button>
      <ol className={styles.messages}>
        {prompt.messages.map((message, index) => (
          <li key={index} className={styles.message} data-role={message.role}>
            <MessageItem message={message} number={index + 1} open={open.has(index)} onToggle={() => toggle(index)} blobUrl={blobUrl} />
          </li>
        ))}
      </ol>
    </section>
  );
}

interface MessageItemProps {
  readonly message: ChatMessage;
  readonly number: number;
  readonly open: boolean;
  readonly onToggle: () => void;
  readonly blobUrl: BlobUrl;
}

/** One turn: a line of it, and what it holds once it is open. */
function MessageItem({ message, number, open, onToggle, blobUrl }: MessageItemProps) {
  const { t } = useI18n();
  const pictures = picturesOf(message);
  return (
    <>
      <button type="button" className={styles.line} aria-expanded={open} onClick={onToggle}>
        <span className={styles.number}>{number}</span>
        <Badge tone={message.role === "assistant" ? "policy" : "neutral"}>{t(`prompt.role.${message.role}`)}</Badge>
        {pictures > 0 && <span>{t("prompt.pictures_in", { count: pictures })}</span>}
        {!open && <span className={styles.first}>{textOf(message).slice(0, MAX_SUMMARY)}</span>}
      </button>
      {open && message.content.map((part, index) =>
        part.type === "text"
          ? <pre key={index} className={styles.text}>{part.text}</pre>
          : <img key={index} className={styles.picture} src={blobUrl(part.image.sha256)} loading="lazy" alt={t("prompt.picture_of", { number })} />,
      )}
    </>
  );
}

/** Characters of a closed turn that are shown. */
const MAX_SUMMARY = 160;
