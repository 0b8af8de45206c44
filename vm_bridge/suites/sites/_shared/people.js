// People and places that sites make up, in the task's language: the same index is the same one in both.
"use strict";

const People = (() => {
  const all = {
    en: ["Ada Brandt", "Ben Okoro", "Clara Voss", "Dario Lenz", "Elif Demir", "Femi Adler", "Grace Holm", "Hugo Prins", "Iris Tanaka", "Jonas Weber", "Kira Novak", "Leo Marsh", "Mina Farouk", "Nils Ekman", "Olga Reyes", "Paul Ito", "Rosa Quinn", "Samir Patel", "Tilda Berg", "Uma Clarke", "Viktor Sand", "Wanda Moss", "Yusuf Kaya", "Zoe Lind"],
    zh: ["安雅", "白宇", "陈澜", "戴立", "方怡", "冯伟", "高晴", "韩松", "何清", "江远", "柯蕊", "李明哲", "林可", "马骁", "宁安", "潘乐", "秦岚", "宋杰", "唐雨", "魏然", "吴桐", "许文", "杨帆", "赵欣"],
  };
  const cities = {
    en: ["Arnheim", "Bellport", "Corvale", "Dunmore", "Eastwick", "Fairlea", "Glenhaven", "Harrow", "Ilford", "Kelso"],
    zh: ["安陵", "碧港", "清谷", "登云", "东苑", "锦原", "松湾", "河洛", "宜川", "开阳"],
  };
  const names = () => all[TASK.language];
  /** A mail address for a name: of its place in the list, so that it is the same in both languages. */
  const mail = (name) => {
    const at = names().indexOf(name);
    return `${all.en[at < 0 ? 0 : at].toLowerCase().replace(" ", ".")}@example.org`;
  };
  return { names, cities: () => cities[TASK.language], mail };
})();
