/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include "prompts/grammar.h"

#define SLOT(letter) [(letter) - 'a']

/* ---- fixed: everyday tasks of many kinds ---- */

static const char *const FIXED_OPENERS[] = {
    "Here are some notes from {p}.", "Read the following text about {p}.", "I am writing to a friend about {p}.",
    "This is what I know about {p}.", "A colleague sent me this about {p}.", NULL};
static const char *const FIXED_SENTENCES[] = {
    "The {a} {n} was {v} by {w} before {t}.",
    "Most of the {k} wanted to {d} the {n}, although {w} had never done so.",
    "In {t} there were {#} {k}, and each of them brought a {a} {n}.",
    "{w} asked whether the {n} could be {v} without the {k}.",
    "Nobody remembered who had {v} the {a} {n} near {p}.",
    "The road to {p} passes a {n}, a {n} and at last a very {a} {n}.",
    "It took {#} days to {d} everything, which was less than the {k} feared.",
    "Because the {n} was {a}, {w} decided to {d} it again in {t}.", NULL};
static const char *const FIXED_QUESTIONS[] = {
    "Summarise this in {#} sentences.", "Write a polite reply that answers every point.",
    "List the facts as bullet points, the most important one first.", "What is unclear here, and what would you ask next?",
    "Explain it to a child of ten years.", "Turn it into a short story with a surprising end.",
    "Which decisions follow from this, and why?", "Rewrite it so that it is half as long.", NULL};
const struct grammar grammar_fixed = {
    FIXED_OPENERS, FIXED_SENTENCES, FIXED_QUESTIONS,
    {SLOT('a') = "old|blue|broken|quiet|heavy|wooden|famous|crooked|new|borrowed|tiny|expensive",
     SLOT('d') = "repair|sell|paint|move|count|photograph|replace|explain|share|measure",
     SLOT('k') = "neighbours|pupils|visitors|gardeners|fishermen|engineers|cousins|musicians|drivers|bakers",
     SLOT('n') = "bridge|piano|boat|library|oven|clock|garden|ladder|map|tent|window|bicycle|lantern|kitchen",
     SLOT('p') = "the harbour|a mountain village|the old mill|our street|the northern island|the market hall|a small railway station",
     SLOT('t') = "early spring|the second week of May|November|the long holidays|the dry season|the year of the flood",
     SLOT('v') = "repaired|sold|painted|moved|borrowed|found|photographed|forgotten|cleaned|measured",
     SLOT('w') = "Marta|the mayor|Mr Okoye|a young teacher|Ines|the shopkeeper|Professor Lindqvist|my aunt"}, " "};

/* ---- medical: notes of invented patients ---- */

static const char *const MEDICAL_OPENERS[] = {
    "Clinical note, invented for testing. A patient aged {#} comes in with {s}.",
    "Discharge summary of an invented patient, aged {#}, admitted for {s}.",
    "Referral letter about a fictitious patient of {#} years with {s}.", NULL};
static const char *const MEDICAL_SENTENCES[] = {
    "The {s} began {t} and {c} since then.", "There is a history of {h}, treated with {m}.",
    "On examination the {o} is {f}.", "The pulse is {#} a minute and {r}, the temperature 37 degrees.",
    "The patient denies {s} and {s}.", "Laboratory values show a {l} that is {g}.",
    "{m} was {u} after the {o} was found to be {f}.", "A {i} of the {o} was requested and showed no {h}.",
    "Family history includes {h} on the mother's side and {h} on the father's.",
    "The patient takes {m} in the morning and {m} at night, with good adherence.", NULL};
static const char *const MEDICAL_QUESTIONS[] = {
    "List the differential diagnoses in order of likelihood, with a reason for each.",
    "Which further examinations would you suggest, and what would each of them decide?",
    "Write a summary for the patient in plain language.", "Name possible interactions between the drugs mentioned.",
    "Extract all findings as a table of finding, side and severity.", NULL};
const struct grammar grammar_medical = {
    MEDICAL_OPENERS, MEDICAL_SENTENCES, MEDICAL_QUESTIONS,
    {SLOT('c') = "has worsened|has improved slightly|has remained unchanged|comes and goes",
     SLOT('f') = "tender on palpation|unremarkable|swollen|enlarged by {#} millimetres|warm and red|reduced in movement",
     SLOT('g') = "slightly raised|markedly raised|low|within the reference range|higher than at the last visit",
     SLOT('h') = "hypertension|type 2 diabetes|asthma|atrial fibrillation|migraine|osteoarthritis|chronic kidney disease|hypothyroidism",
     SLOT('i') = "computed tomography|ultrasound scan|magnetic resonance scan|plain radiograph",
     SLOT('l') = "creatinine|haemoglobin|white cell count|C-reactive protein|potassium|troponin|bilirubin|ferritin",
     SLOT('m') = "metformin|lisinopril|amlodipine|salbutamol|levothyroxine|ibuprofen|omeprazole|bisoprolol",
     SLOT('o') = "left knee|abdomen|thyroid gland|right shoulder|liver|chest|lower back|spleen",
     SLOT('r') = "regular|irregular|weak but regular",
     SLOT('s') = "chest pain|shortness of breath|a dry cough|dizziness|abdominal pain|joint swelling|fatigue|headache|night sweats|palpitations",
     SLOT('t') = "two days ago|last week|{#} hours ago|a month ago|after a long journey|during the night",
     SLOT('u') = "stopped|started|increased|reduced by half|continued unchanged"}, " "};

/* ---- legal: clauses of invented contracts ---- */

static const char *const LEGAL_OPENERS[] = {
    "The following is an excerpt of an invented {k} between {p} and {q}.",
    "Consider these clauses of a fictitious {k}.", "Below is a draft {k}, written for testing, that {p} proposes to {q}.", NULL};
static const char *const LEGAL_SENTENCES[] = {
    "{p} shall {d} {o} within {#} days of {e}.", "Unless otherwise agreed in writing, {q} may not {d} {o}.",
    "In the event of {e}, either party is entitled to {r} upon {#} days' notice.",
    "Section {#} applies accordingly where {q} fails to {d} {o}.",
    "The liability of {p} for {l} is limited to {#} per cent of the annual fee.",
    "Nothing in this {k} excludes liability for {l} caused by intent or gross negligence.",
    "{q} warrants that {o} is free from rights of third parties at the time of {e}.",
    "Disputes arising from section {#} are referred to {c} before any party may {r}.",
    "If a provision on {o} is held invalid, the remaining provisions continue in force.", NULL};
static const char *const LEGAL_QUESTIONS[] = {
    "Which obligations does each party have, and by when?", "Point out the clauses that contradict each other.",
    "Rewrite the excerpt in plain language and keep every obligation.",
    "Which risks does {q} carry, and how could the wording reduce them?", "List all periods of time and what each of them starts with.", NULL};
const struct grammar grammar_legal = {
    LEGAL_OPENERS, LEGAL_SENTENCES, LEGAL_QUESTIONS,
    {SLOT('c') = "a mediator|an arbitral tribunal|the managing directors of both parties|an independent expert",
     SLOT('d') = "deliver|assign|inspect|return|insure|disclose|replace|license",
     SLOT('e') = "receipt of the notice|acceptance of the works|a change of control|late payment|termination|the effective date",
     SLOT('k') = "services agreement|lease|licence agreement|supply contract|shareholders' agreement|framework contract",
     SLOT('l') = "loss of profit|damage to property|loss of data|delay|breach of confidence",
     SLOT('o') = "the equipment|the confidential information|the premises|the deliverables|the source materials|the security deposit",
     SLOT('p') = "the supplier|the licensor|the landlord|the contractor|the seller",
     SLOT('q') = "the customer|the licensee|the tenant|the principal|the buyer",
     SLOT('r') = "terminate this contract|withhold payment|claim damages|demand specific performance|suspend its services"}, " "};

/* ---- code: functions and what to do with them ---- */

static const char *const CODE_OPENERS[] = {
    "Look at this module of a program that keeps {n} in memory:\n\n", "The following functions work on {n}. They are part of a larger program.\n\n",
    "Here is code that I have to maintain; it reads {n} and writes {n}.\n\n", NULL};
static const char *const CODE_SENTENCES[] = {
    "def {v}_{n}(items, limit={#}):\n    result = []\n    for item in items:\n        if item.{f} {o} limit:\n            result.append(item.{f})\n    return result\n",
    "def {v}_{f}(table, key):\n    entry = table.get(key)\n    if entry is None:\n        return {#}\n    return entry.{f} + {#}\n",
    "class {c}:\n    def __init__(self, {f}):\n        self.{f} = {f}\n        self.count = {#}\n\n    def {v}(self):\n        self.count += {#}\n        return self.{f}\n",
    "for index in range({#}):\n    {n}[index] = {v}_{f}({n}, index {o} {#})\n",
    "# The {n} are sorted by {f} before this point.\nassert len({n}) {o} {#}\n",
    "while queue:\n    node = queue.pop()\n    if node.{f} {o} {#}:\n        {v}_{n}(node)\n    queue.extend(node.{n})\n", NULL};
static const char *const CODE_QUESTIONS[] = {
    "\nWhich errors are in this code? Show a corrected version.", "\nWrite unit tests for every function, edge cases included.",
    "\nTranslate it to C and keep the names.", "\nWhat is its running time, and how could it be made faster?",
    "\nAdd a comment to each function that states what it takes and gives.", NULL};
const struct grammar grammar_code = {
    CODE_OPENERS, CODE_SENTENCES, CODE_QUESTIONS,
    {SLOT('c') = "Cache|Ledger|Router|Parser|Sampler|Index",
     SLOT('f') = "weight|size|owner|price|depth|score|offset|age",
     SLOT('n') = "orders|nodes|events|records|packets|invoices|edges|pages",
     SLOT('o') = "<|>|<=|>=|==|!=",
     SLOT('v') = "collect|update|find|merge|split|rank|check|drop"}, ""};

/* ---- text2image: descriptions of pictures ---- */

static const char *const PICTURES[] = {
    "{m} of {s} {w}, {l}", "{s} {w}, {l}, {m}", "{m}: {s} and {s} {w}, {l}, {c}", "{s} {w} seen {v}, {l}, {c}",
    "{m} showing {s} {w}, {c}, {v}", NULL};
const struct grammar grammar_text2image = {
    PICTURES, PICTURES, PICTURES,
    {SLOT('a') = "red|rusty|golden|striped|tiny|enormous|transparent|moss-covered|paper|porcelain|sleeping|curious",
     SLOT('b') = "fox|lighthouse|teapot|bicycle|whale|violin|robot|apple tree|airship|cat|sailing boat|typewriter|owl|market stall|tram|astronaut|turtle|windmill|grand piano|hedgehog",
     SLOT('c') = "muted colours|a single strong colour|black and white|pastel tones|warm autumn colours|deep blues and greens",
     SLOT('l') = "at dawn|in thick fog|under a full moon|in the light of a single candle|in bright midday sun|after heavy rain|in falling snow|at the blue hour",
     SLOT('m') = "a watercolour|an oil painting|a photograph|a pencil drawing|a woodcut|an isometric illustration|a pixel art picture|a poster|a paper collage|a technical drawing",
     SLOT('s') = "a {a} {b}|two {a} {b}s|a {b} made of glass|an old {b}|a {a} {b} and its reflection|a {b} with {#} small lamps",
     SLOT('v') = "from above|through a round window|from very close|from far away|from below",
     SLOT('w') = "on a wet cobbled street|in a quiet library|beside a frozen lake|in a greenhouse|on a rooftop|in an empty theatre|at the edge of a desert|inside a clockwork|in a field of sunflowers|on a railway platform|under the sea|in a mountain meadow"}, ""};
