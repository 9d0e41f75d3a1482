// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {ReviewRegistry} from "../../src/ReviewRegistry.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {Books} from "./Books.sol";

/// @notice A contract wallet that says yes to every signature.
contract YesWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }
}

/// @notice An escrow contract of an attacker's own, in which everything was bought.
contract YesEscrow {
    function requireTerms(CommissionEscrow.Terms calldata) external pure {}
}

/// @notice The people of the market, and what they sign.
abstract contract Actors is Books {
    uint256 internal constant MONEY = 1e15;

    Wallet[] internal buyers;
    Wallet[] internal owners;
    Wallet[] internal reviewers;
    Wallet[] internal attackers;
    YesWallet internal yesWallet;
    YesEscrow internal yesEscrow;
    /// @dev Stands under the escrow's name at times; nothing was ever bought there.
    CommissionEscrow internal successor;

    /// @dev One agent for each buyer, for each reviewer and for the first attacker; one merchant for each owner and for the first attacker.
    uint256[] internal buyerAgents;
    uint256[] internal reviewerAgents;
    uint256 internal attackerAgent;
    uint256 internal attackerMerchant;
    /// @dev The review of an agent about a merchant.
    mapping(uint256 agentId => mapping(uint256 merchantId => uint256)) internal reviewBy;

    SplitRouter.Purchase[] internal signed;

    uint256 private _salts;

    function setUp() public override {
        super.setUp();
        clock = block.timestamp;
        yesWallet = new YesWallet();
        yesEscrow = new YesEscrow();
        successor = CommissionEscrow(
            deploy(
                "CommissionEscrow.sol:CommissionEscrow",
                abi.encode(admin, ADMIN_DELAY, addresses, identities, usdc, 60 days, 10 days)
            )
        );
        buyers.push(buyer);
        buyers.push(walletBuyer);
        buyers.push(makeWallet("buyer 3"));
        owners.push(merchant);
        owners.push(makeWallet("merchant 2"));
        owners.push(makeWallet("merchant 3"));
        reviewers.push(reviewer);
        reviewers.push(makeWallet("reviewer 2"));
        attackers.push(makeWallet("attacker"));
        attackers.push(makeWallet("attacker 2"));
        minted = 2 * FUNDS;
        wealth[buyer.addr] = FUNDS;
        wealth[walletBuyer.addr] = FUNDS;
        for (uint256 i = 0; i < buyers.length; ++i) _admit(buyers[i].addr);
        for (uint256 i = 0; i < owners.length; ++i) _admit(owners[i].addr);
        for (uint256 i = 0; i < reviewers.length; ++i) _admit(reviewers[i].addr);
        for (uint256 i = 0; i < attackers.length; ++i) _admit(attackers[i].addr);
        _admit(address(yesWallet));
        _admit(treasury);
        _admit(makeAddr("agent wallet"));

        buyerAgents.push(buyerAgentId);
        buyerAgents.push(registerIdentity(walletBuyer.addr));
        buyerAgents.push(registerIdentity(buyers[2].addr));
        reviewerAgents.push(reviewerAgentId);
        reviewerAgents.push(registerIdentity(reviewers[1].addr));
        attackerAgent = registerIdentity(attackers[0].addr);
        attackerMerchant = registerIdentity(attackers[0].addr);
        merchantIds.push(merchantId);
        merchantIds.push(registerIdentity(owners[1].addr));
        merchantIds.push(registerIdentity(owners[2].addr));
        merchantIds.push(attackerMerchant);
        goods[merchantId][PRODUCT] = Goods(COMMISSION_BPS, 0, true);
        for (uint256 i = 0; i < 3; ++i) {
            if (i != 0) _openShop(owners[i].addr, merchantIds[i], PRODUCT, 3_000, 0);
            _openShop(owners[i].addr, merchantIds[i], OTHER_PRODUCT, 10_000, 1_000_000);
        }
        _openShop(attackers[0].addr, attackerMerchant, PRODUCT, 10_000, 0);

        reviewCount = 1;
        reviewBy[reviewerAgentId][merchantId] = 1;
        for (uint256 i = 0; i < 3; ++i) {
            if (i != 0) _publish(reviewers[0], reviewerAgents[0], merchantIds[i]);
            _publish(reviewers[1], reviewerAgents[1], merchantIds[i]);
        }
        _publish(attackers[0], attackerAgent, merchantId);
        _publish(attackers[0], attackerAgent, attackerMerchant);
        _publish(reviewers[0], reviewerAgents[0], attackerMerchant);
    }

    /// @dev A number below `n` that depends on the seed and on what it is for.
    function roll(uint256 seed, string memory what, uint256 n) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, what))) % n;
    }

    /// @dev At times the least price to the unit, or one less.
    function aPrice(uint256 seed, SplitRouter.Attribution memory a) internal view returns (uint256) {
        uint256 least = goods[a.merchantId][a.productId].minPrice;
        uint256 what = roll(seed, "kind of price", 12);
        if (what == 0 && least > 0) return least;
        if (what == 1 && least > 1) return least - 1;
        return what < 4 ? 1 + roll(seed, "price", 50) : 1 + roll(seed, "price", 50_000_000);
    }

    function anAccount(uint256 seed) internal view returns (address) {
        return accounts[roll(seed, "account", accounts.length)];
    }

    function anAttacker(uint256 seed) internal view returns (address) {
        return attackers[roll(seed, "attacker", attackers.length)].addr;
    }

    /// @dev Bounds are broken now and then, and another's agent is named.
    function anAttribution(uint256 seed, uint256 buyerIndex) internal returns (SplitRouter.Attribution memory a) {
        a.merchantId = merchantIds[roll(seed, "merchant", 3)];
        a.productId = roll(seed, "product", 2) == 0 ? PRODUCT : OTHER_PRODUCT;
        a.reviewerAgentId = reviewerAgents[roll(seed, "reviewer", 2)];
        a.reviewId = reviewBy[a.reviewerAgentId][a.merchantId];
        uint256 whose = roll(seed, "whose agent", 8);
        if (whose > 3) a.buyerAgentId = escrow.AGENTLESS();
        else a.buyerAgentId = buyerAgents[(buyerIndex + (whose == 0 ? 1 : 0)) % buyerAgents.length];
        a.cashbackOfCommissionBps = uint16(roll(seed, "cashback", 4_050));
        a.commissionMultiplierBps = uint16(4_000 + roll(seed, "multiplier", 6_050));
        a.salt = bytes32(++_salts);
    }

    /// @dev A purchase by one of the buyers; every second nonce commits to the attribution.
    function aPurchase(uint256 seed, SplitRouter.AuthorizationType kind)
        internal
        returns (SplitRouter.Purchase memory purchase)
    {
        uint256 i = roll(seed, "buyer", buyers.length);
        SplitRouter.Attribution memory a = anAttribution(seed, i);
        purchase = roll(seed, "committed", 2) == 0
            ? signPurchase(buyers[i], aPrice(seed, a), kind, a, router.attributionNonce(a))
            : signPurchase(buyers[i], aPrice(seed, a), kind, a);
        signed.push(purchase);
    }

    function walletOf(address account) internal view returns (Wallet memory) {
        for (uint256 i = 0; i < buyers.length; ++i) if (buyers[i].addr == account) return buyers[i];
        revert("no buyer");
    }

    function signCharge(Wallet memory payer, SplitRouter.Charge memory charge, uint256 agentId)
        internal
        view
        returns (bytes memory)
    {
        bytes32 structHash = keccak256(
            abi.encode(router.CHARGE_COMMITMENT_TYPEHASH(), charge.txHash, charge.tokenHash, agentId, charge.payer)
        );
        return sign(payer, typedDataHash(domainSeparator("ReferrerCharge", "1", address(router)), structHash));
    }

    function _admit(address account) private {
        accounts.push(account);
        vm.prank(admin);
        usdc.mint(account, MONEY);
        wealth[account] += MONEY;
        minted += MONEY;
    }

    function _openShop(address owner, uint256 id, bytes32 productId, uint16 commissionBps, uint64 minPrice) private {
        vm.startPrank(owner);
        merchants.setActive(id, true);
        merchants.listProduct(id, productId, commissionBps, minPrice, MerchantRegistry.ProductType.OneOff, "");
        vm.stopPrank();
        shops[id] = Shop(owner, owner, true, false);
        goods[id][productId] = Goods(commissionBps, minPrice, true);
    }

    function _publish(Wallet memory author, uint256 agentId, uint256 id) private {
        ReviewRegistry.ReviewCommitment memory commitment =
            ReviewRegistry.ReviewCommitment(agentId, id, PRODUCT, keccak256("content"), ++reviewCount, clock);
        bytes memory signature = sign(author, reviews.hashCommitment(commitment));
        vm.prank(publisher);
        reviewBy[agentId][id] = reviews.publishWithProof(reviewCount, commitment, signature);
    }
}
